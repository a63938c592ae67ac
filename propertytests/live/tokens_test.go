package live_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/metrics"
	"github.com/rolemanager/rolemanager/roles"
)

// TestTokensLeakNowhere runs a manager with tasks, rotations, a forced eviction and failing work,
// and searches all that comes out of it (logs at the lowest level, every event, metrics, every
// page, status, errors, and whatever a careless program prints) for the ids of its tokens in every
// form that they could have. Encode alone hands an id out.
func TestTokensLeakNowhere(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		t.Cleanup(func() { time.Sleep(time.Second) }) // virtual: the server leaves nobody behind who flushes a file
		var out printed
		registry := prometheus.NewRegistry()
		measured, err := metrics.New(registry)
		if err != nil {
			t.Fatal(err)
		}
		console := zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), &out, zap.DebugLevel)
		lines := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), &out, zap.DebugLevel)
		log := zap.New(zapcore.NewTee(console, lines))
		m, err := roles.New(roles.Config{
			URL: s.URL(), NATSOptions: []nats.Option{nats.SetCustomDialer(s)}, Bucket: "roles", BucketAutoCreate: true,
			InstanceID: "a",
			TTL:        time.Second, RotationInterval: 3 * time.Second, Logger: log,
			Sinks: []event.Sink{measured, event.SinkFunc(func(e event.Event) { out.all(e) })},
		})
		if err != nil {
			t.Fatal(err)
		}
		a, err := assign.New(m.Session(), assign.Config{Namespace: "jobs", Role: "scheduler", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		kind := assign.NewKind[int, int]("k")
		err = assign.Handle(a, kind, func(_ context.Context, task *assign.Task[int]) (int, error) {
			out.token(log, task.Fence())
			return task.Input, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		terms := make(chan *election.Term, 64)
		failing := true
		work := func(ctx context.Context, term *election.Term) error {
			out.token(log, term.Token())
			terms <- term
			if failing {
				failing = false
				return fmt.Errorf("the work of %v, %+v fails", term.Token(), term.Token())
			}
			<-ctx.Done()
			out.token(log, term.Token())
			return nil
		}
		if err := m.Add(roles.Role{Name: "scheduler", Lead: a.Lead},
			roles.Role{Name: "r", Lead: work, ValidationInterval: time.Second}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		defer stop()

		first := <-terms
		term := <-terms // the first one's work has failed
		p, err := assign.Submit(t.Context(), a, kind, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // virtual: rotations
		out.token(log, term.Token())
		guard := fencing.NewGuard(term.Token())
		out.all(guard.Admit(first.Token()))
		e, _ := m.Election("r")
		ok, err := e.ValidateToken(t.Context())
		out.all(ok, err, e.Token(), e.Status())
		o, err := election.Observe(t.Context(), natstest.Connect(t, s), "roles")
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the observer sees who leads", time.Minute, func() (bool, string) {
			info, _ := o.Role("r")
			return info.Leader == "a", fmt.Sprint(info)
		})
		out.all(o.Roles(), o.Members(), m.Status(), m.Session().Roles(), m.Session().Members())
		for _, page := range []string{
			"/livez", "/readyz", "/leaderz", "/leaderz?role=r",
			"/leaderz?role=" + first.Token().String(), "/status", "/", "/debug",
		} {
			answer := httptest.NewRecorder()
			m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, strings.ReplaceAll(page, " ", "%20"), nil))
			out.all(answer.Header(), answer.Body.String())
		}
		info, _ := o.Role("r")
		out.all(o.Evict(t.Context(), "r", info.Epoch))
		o.Close()
		<-terms
		out.all(m.StepDown(t.Context(), "r"), m.StepDown(t.Context(), "nothing"), m.Transfer(t.Context(), "r", "nobody"))

		stop()
		out.all(<-ended)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			out.all(f.String())
		}
		out.all(first, term, e, m.Session(), m) // everything has ended: they can be looked into
		out.search(t)
	})
}

// printed is all that came out, and the tokens that there were.
type printed struct {
	mu     sync.Mutex
	text   bytes.Buffer
	tokens []fencing.Token
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) Sync() error { return nil }

// all prints values in every way that there is.
func (p *printed) all(values ...any) {
	for _, v := range values {
		for _, format := range []string{
			"%v\n", "%+v\n", "%#v\n", "%s\n", "%q\n", "%x\n", "%X\n", "%d\n", "% x\n", "%o\n",
			"%T\n",
		} {
			fmt.Fprintf(p, format, v)
		}
		if text, err := json.Marshal(v); err == nil {
			_, _ = p.Write(append(text, '\n'))
		}
	}
}

// token prints a token as it is, inside of others, and by every logger, and remembers it.
func (p *printed) token(log *zap.Logger, t fencing.Token) {
	type holder struct {
		Token   fencing.Token
		Pointer *fencing.Token
		Any     any
		hidden  fencing.Token
		deeper  struct{ list []fencing.Token }
	}
	h := holder{Token: t, Pointer: &t, Any: t, hidden: t}
	h.deeper.list = []fencing.Token{t}
	err := errors.Join(fmt.Errorf("wrapped %v", t), &fencing.StaleError{Token: t, High: t},
		&fencing.ConflictError{Token: t, High: t}, &fencing.RoleError{Want: "x", Token: t})
	p.all(t, &t, h, &h, []fencing.Token{t}, map[string]fencing.Token{"t": t}, map[fencing.Token]int{t: 1}, err)
	for _, v := range []any{t, &t, h, &h, err} {
		log.Debug("token", zap.Any("any", v), zap.Reflect("reflect", v), zap.Any("list", []any{v}))
		log.Sugar().Debugw("token", "sugar", v)
		log.Sugar().Debugf("%v %+v %#v", v, v, v)
		slog.New(slog.NewTextHandler(p, nil)).Info("token", "v", v)
		slog.New(slog.NewJSONHandler(p, nil)).Info("token", "v", v)
	}
	log.Debug("token", zap.Stringer("stringer", t), zap.Error(err))
	if text, err := t.MarshalText(); err == nil {
		p.all(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = append(p.tokens, t)
}

// search looks for every id in every form.
func (p *printed) search(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	text := strings.ToLower(p.text.String())
	exact := p.text.String()
	ids := map[string]bool{}
	for _, token := range p.tokens {
		encoded := token.Encode()
		id, err := uuid.Parse(encoded[strings.LastIndexByte(encoded, '/')+1:])
		if err != nil {
			t.Fatalf("a token without an id: %v", err)
		}
		if ids[id.String()] {
			continue
		}
		ids[id.String()] = true
		raw := string(id[:])
		for what, secret := range map[string]string{
			"text": id.String(), "its end": id.String()[24:], "hex": hex.EncodeToString(id[:]),
			"hex of the text": hex.EncodeToString([]byte(id.String())),
			"spaced hex":      fmt.Sprintf("% x", id[:]),
		} {
			if strings.Contains(text, secret) {
				t.Errorf("an id is printed as %s: %s", what, around(text, secret))
			}
		}
		for what, secret := range map[string]string{
			"bytes": raw, "quoted bytes": strings.Trim(strconv.Quote(raw), `"`), "decimals": strings.Trim(fmt.Sprint(id[:]), "[]"),
			"Go":    strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", id[:]), "[]byte{"), "}"),
			"octal": strings.Trim(fmt.Sprintf("%o", id[:]), "[]"),
		} {
			if strings.Contains(exact, secret) {
				t.Errorf("an id is printed as %s: %s", what, around(exact, secret))
			}
		}
		for _, of := range []string{raw, id.String()} {
			for shift := range 3 { // wherever it stands in what was encoded
				for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
					whole := of[shift : shift+(len(of)-shift)/3*3]
					if secret := coding.EncodeToString([]byte(whole)); strings.Contains(exact, secret) {
						t.Errorf("an id is printed in base64: %s", around(exact, secret))
					}
				}
			}
		}
	}
	if len(ids) < 4 || !strings.Contains(exact, "r@") || len(exact) < 10_000 {
		t.Errorf("%d ids and %d bytes prove nothing", len(ids), len(exact))
	}
	t.Logf("%d ids in %d bytes", len(ids), len(exact))
}

func around(text, secret string) string {
	at := strings.Index(text, secret)
	return fmt.Sprintf("%q", text[max(at-200, 0):min(at+len(secret)+50, len(text))])
}
