package election_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestSlowReaderMissesNothingImportant: a reader that sleeps for an hour finds every promotion and
// demotion, and the end of the session, in order, and is told how many of the other events were
// left out.
func TestSlowReaderMissesNothingImportant(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var sink recorder // is fast, and so has everything
		cfg := instance("a")
		cfg.Sinks = []event.Sink{&sink}
		session := open(t, s, cfg)
		events := session.Events(t.Context())
		p := campaign(t, session, election.RoleConfig{Role: "scheduler"})
		for range 60 {
			receive(t, "promotion", p.began)
			time.Sleep(20 * time.Second)
			if err := p.StepDown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		var important []string
		got, lagged := 0, uint64(0)
		for e := range events {
			if e, ok := e.(event.Lagged); ok {
				lagged += e.N
				continue
			}
			important = append(important, landmark(e)...)
			got++
		}
		var want []string
		for _, e := range sink.all() {
			want = append(want, landmark(e)...)
		}
		if len(want) < 122 || !slices.Equal(important, want[1:]) { // the session was opened before it subscribed
			t.Errorf("the slow reader has %v, want %v", important, want)
		}
		if lagged == 0 {
			t.Error("not told that it lagged")
		}
		total := len(sink.all())
		t.Logf("%d of %d events read, told of %d left out", got, total, lagged)
		if got+int(lagged) > total {
			t.Errorf("read %d and told of %d left out, of %d in all", got, lagged, total)
		}
	})
}

// landmark is an event that nobody misses, in short.
func landmark(e event.Event) []string {
	switch e := e.(type) {
	case event.RolePromoted:
		return []string{fmt.Sprint("+", e.Epoch)}
	case event.RoleDemoted:
		return []string{fmt.Sprint("-", e.Epoch)}
	case event.SessionOpened, event.SessionLost, event.SessionClosed, event.SessionKilled:
		return []string{event.Name(e)}
	}
	return nil
}

// TestEventsCarryTheirOrigin: bucket, instance and session, and one correlation id for what belongs
// to one term.
func TestEventsCarryTheirOrigin(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		p, _ := lead(t, session, election.RoleConfig{Role: "scheduler"})
		if err := p.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "second term", p.began)
		stop(t, p)
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		terms := map[string]string{}
		for _, e := range sink.all() {
			m := event.MetaOf(e)
			if m.Bucket != bucket || m.Instance != "a" || m.Time.IsZero() {
				t.Errorf("%s carries %+v", event.Name(e), m)
			}
			switch e.(type) {
			case event.RolePromoted, event.RoleDemoted, event.RoleDrained:
				terms[m.Correlation] += event.Name(e) + " "
				if m.Session == 0 {
					t.Errorf("%s without a session", event.Name(e))
				}
			}
		}
		if len(terms) != 2 {
			t.Errorf("correlation ids of two terms: %v", terms)
		}
		for id, names := range terms {
			if names != "RolePromoted RoleDemoted RoleDrained " {
				t.Errorf("%s: %s", id, names)
			}
		}
		if opened, closed := ofType[event.SessionOpened](sink), ofType[event.SessionClosed](sink); len(opened) != 1 ||
			len(closed) != 1 {
			t.Errorf("opened %d times, closed %d times", len(opened), len(closed))
		}
	})
}

// TestSinksAreCalledInOrder: each of several sinks sees all events in one order, from one
// goroutine.
func TestSinksAreCalledInOrder(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var first, second recorder
		cfg := instance("a")
		cfg.Sinks = []event.Sink{&first, event.SinkFunc(second.Observe)}
		session := open(t, s, cfg)
		for i := range 20 {
			lead(t, session, election.RoleConfig{Role: fmt.Sprint("role", i)})
		}
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		a, b := first.all(), second.all()
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("%d and %d events", len(a), len(b))
		}
		for i := range a {
			if sprint(a[i]) != sprint(b[i]) {
				t.Fatalf("event %d: %s and %s", i, sprint(a[i]), sprint(b[i]))
			}
			if i > 0 && event.MetaOf(a[i]).Time.Before(event.MetaOf(a[i-1]).Time) {
				t.Errorf("%s comes before %s", event.Name(a[i-1]), event.Name(a[i]))
			}
		}
		if event.Name(a[len(a)-1]) != "SessionClosed" {
			t.Errorf("the last event is %s", event.Name(a[len(a)-1]))
		}
	})
}

// TestTokensLeakNowhere: no way to print events, statuses, terms or errors shows the secret of a
// token.
func TestTokensLeakNowhere(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var out syncBuilder
		log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&out),
			zap.DebugLevel))
		print := func(v any) {
			fmt.Fprintf(&out, "%v %+v %#v %s %q\n", v, v, v, v, v)
			data, err := json.Marshal(v)
			fmt.Fprintln(&out, string(data), err)
			log.Info("it", zap.Any("any", v), zap.Reflect("reflect", v))
		}
		cfg := instance("a")
		cfg.RotationInterval = time.Second
		cfg.Sinks = []event.Sink{event.SinkFunc(func(e event.Event) { print(e) })}
		session := open(t, s, cfg)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		o := observe(t, s)
		secrets := map[string]bool{}
		for range 9 {
			for _, token := range []any{term.Token(), p.Token()} {
				print(token)
			}
			for _, form := range forms(t, term.Token().Encode()) {
				secrets[form] = true
			}
			print(p.Status())
			print(o.Roles())
			print(o.Members())
			print(session.Roles())
			if _, err := p.ValidateToken(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		natstest.Eventually(t, "it is evicted", time.Minute, func() (bool, string) {
			err := o.Evict(t.Context(), "scheduler", term.Epoch())
			return err == nil, sprint(err)
		})
		receive(t, "end", p.ended)
		print(term.Validate(t.Context()))
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if len(secrets) < 4*5 || !strings.Contains(text, "RoleRotated") {
			t.Fatalf("%d secrets in %d bytes: this proves nothing", len(secrets), len(text))
		}
		for secret := range secrets {
			if strings.Contains(text, secret) {
				i := strings.Index(text, secret)
				t.Errorf("leaked: …%s…", text[max(0, i-200):min(len(text), i+80)])
			}
		}
	})
}

// forms are the ways the id of an encoded token could show: as text, and as the bytes that it is
// made of.
func forms(t *testing.T, encoded string) []string {
	t.Helper()
	id, err := uuid.Parse(encoded[strings.LastIndexByte(encoded, '/')+1:])
	if err != nil {
		t.Fatalf("no id in %q: %v", encoded, err)
	}
	raw := [16]byte(id)
	return []string{
		id.String(), strings.ReplaceAll(id.String(), "-", ""), strings.Trim(fmt.Sprint(raw), "[]"),
		fmt.Sprintf("%#v", raw)[8:],
		base64.StdEncoding.EncodeToString(raw[:]),
	}
}

type syncBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestEventsEndWithTheirContext: a subscriber that has gone is forgotten, and one that comes too
// late gets a closed channel.
func TestEventsEndWithTheirContext(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		ctx, cancel := context.WithCancel(t.Context())
		events := session.Events(ctx)
		cancel()
		for range events { // is closed
		}
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range session.Events(t.Context()) {
			t.Error("an event after the end")
		}
	})
}
