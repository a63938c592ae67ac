package guides

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

func connection(t *testing.T) *nats.Conn {
	t.Helper()
	nc, shutdown, err := embedded(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(shutdown)
	return nc
}

// running runs a manager until the test ends, or until stop is called, which returns what Run has
// returned.
func running(t *testing.T, cfg roles.Config, all ...roles.Role) (m *roles.Manager, stop func() error) {
	t.Helper()
	cfg.Bucket, cfg.BucketAutoCreate, cfg.TTL = "roles", true, time.Second
	m, err := roles.New(cfg, all...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	return m, func() error { cancel(); return <-ended }
}

type recorder struct{ started, stopped chan struct{} }

func (r recorder) Start(context.Context, fencing.Token) error { close(r.started); return nil }
func (r recorder) Stop()                                      { close(r.stopped) }

func TestCallbacks(t *testing.T) {
	s := recorder{make(chan struct{}), make(chan struct{})}
	_, stop := running(t, roles.Config{Conn: connection(t)}, servedBy(s))
	<-s.started
	if err := stop(); err != nil {
		t.Error(err)
	}
	<-s.stopped
}

func TestAnnounce(t *testing.T) {
	nc := connection(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	terms := make(chan *election.Term, 1)
	_, stop := running(t, roles.Config{Conn: nc},
		roles.Role{Name: "api", Lead: func(ctx context.Context, term *election.Term) error {
			if err := announce(ctx, js, term, "10.0.0.7:8080"); err != nil {
				t.Error(err)
			}
			terms <- term
			<-ctx.Done()
			return nil
		}})
	term := <-terms
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := announce(t.Context(), js, term, "10.0.0.7:8080"); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("after the term: %v", err)
	}
}

func TestInvoices(t *testing.T) {
	nc := connection(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	numbers := make(chan int, 1)
	_, stop := running(t, roles.Config{Conn: nc},
		roles.Role{Name: "billing", Lead: func(ctx context.Context, term *election.Term) error {
			n, err := invoice(ctx, js, term)
			if err != nil {
				t.Error(err)
			}
			numbers <- n
			return nil
		}})
	for want := 1; want <= 2; want++ { // two terms, with a cool-down in between
		if n := <-numbers; n != want {
			t.Errorf("invoice %d, want %d", n, want)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// get asks until an address answers with a status.
func get(t *testing.T, url string, status int) string {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		r, err := http.Get(url)
		if err == nil {
			body, err := io.ReadAll(r.Body)
			if err == nil && r.Body.Close() == nil && r.StatusCode == status {
				return string(body)
			}
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%s does not answer with %d: %v", url, status, err)
		}
	}
}

// unreachable is a database that does not answer.
type unreachable struct{}

func (unreachable) Connect(context.Context) (driver.Conn, error) { return nil, driver.ErrBadConn }
func (unreachable) Driver() driver.Driver                        { return nil }

// TestProbes: a process that cannot reach its database does not lead, and says that it is ready all
// the same.
func TestProbes(t *testing.T) {
	m, stop := running(t, roles.Config{Conn: connection(t)}, healthy(sql.OpenDB(unreachable{}), wait))
	s := httptest.NewServer(probes(m))
	defer s.Close()
	get(t, s.URL+"/health/readyz", http.StatusOK)
	get(t, s.URL+"/health/leaderz?role=billing", http.StatusServiceUnavailable)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// freeAddress is one on loopback that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

func TestPage(t *testing.T) {
	nc, address := connection(t), freeAddress(t)
	m, leave := running(t, roles.Config{Conn: nc, InstanceID: "vm-1"}, roles.Role{Name: "scheduler", Lead: wait})
	e, _ := m.Election("scheduler")
	natstest.Eventually(t, "it leads", time.Minute, func() (bool, string) { return e.IsLeader(), "" })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- servePage(ctx, nc, address) }()
	if body := get(t, "http://"+address+"/", http.StatusOK); !strings.Contains(body, "vm-1") {
		t.Error(body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := leave(); err != nil {
		t.Error(err)
	}
}

func TestMonitored(t *testing.T) {
	address := freeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	cfg := roles.Config{Conn: connection(t), Bucket: "roles", BucketAutoCreate: true, TTL: time.Second}
	go func() { ended <- monitored(ctx, cfg, address, roles.Role{Name: "scheduler", Lead: wait}) }()
	get(t, "http://"+address+"/leaderz?role=scheduler", http.StatusOK)
	natstest.Eventually(t, "the metrics have been told who leads", time.Minute, func() (bool, string) {
		body := get(t, "http://"+address+"/metrics", http.StatusOK)
		return strings.Contains(body, `election_is_leader{bucket="roles",role="scheduler"} 1`), body
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func wait(ctx context.Context, _ *election.Term) error { <-ctx.Done(); return nil }

func TestCron(t *testing.T) {
	ran := make(chan string, 1)
	tasks := assigntest.Start(t, func(a *assign.Assigner) {
		if err := assign.Handle(a, report, func(_ context.Context, r *assign.Task[string]) (string, error) {
			select {
			case ran <- r.ID():
			default:
			}
			return r.Input, nil
		}); err != nil {
			t.Fatal(err)
		}
	})
	if err := schedule(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	if id := <-ran; !strings.HasPrefix(id, "cron/pulse/") {
		t.Errorf("the tick is %s", id)
	}
}

func TestDeclare(t *testing.T) {
	tasks := assigntest.Start(t, func(*assign.Assigner) {})
	for range 2 { // a program that starts again
		if err := declare(t.Context(), tasks); err != nil {
			t.Fatal(err)
		}
	}
	l, err := assign.GetLimits(t.Context(), tasks, export.Name())
	if err != nil || l.Declared == nil || *l.Concurrency != 2 || *l.Rate != 10 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestWatchLeaders(t *testing.T) {
	nc := connection(t)
	_, stop := running(t, roles.Config{Conn: nc, InstanceID: "vm-1"}, roles.Role{Name: "scheduler", Lead: wait})
	told := make(chan string, 16)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for { // there is no bucket yet when the test begins
			err := watchLeaders(ctx, nc, "roles", func(s string) { told <- s })
			if ctx.Err() != nil || err == nil {
				ended <- err
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	for line := range told {
		if strings.Contains(line, `scheduler is led by "vm-1"`) {
			break
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestSubmit(t *testing.T) {
	nc := connection(t)
	m, stop := running(t, roles.Config{Conn: nc})
	a, err := assign.New(m.Session(), assign.Config{Namespace: "images", Role: "images", StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := assign.Handle(a, resize, resizeImage); err != nil {
		t.Fatal(err)
	}
	name, lead := a.Role()
	if err := m.Add(roles.Role{Name: name, Lead: lead}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one finds the first
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			width, err := submit(t.Context(), nc, "cat.png")
			if width == len("cat.png") && err == nil {
				break
			}
			if time.Since(began) > 10*time.Second {
				t.Fatalf("%d, %v", width, err)
			}
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestLeadAt: a process at the hub and one on a leaf node have one leader.
func TestLeadAt(t *testing.T) {
	h := natstest.Hub(t, natsrun.HubOptions{Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}}})
	reach, err := natskv.NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := natskv.Create(t.Context(), natstest.Connect(t, h),
		natskv.Config{Bucket: "roles", Reach: reach}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	terms, ended := make(chan *election.Term, 2), make(chan error, 2)
	for _, url := range []string{h.URL(), h.Leaf(0).URL()} {
		go func() {
			ended <- leadAt(ctx, url, func(ctx context.Context, term *election.Term) error {
				terms <- term
				<-ctx.Done()
				return nil
			})
		}()
	}
	<-terms
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestOnHost(t *testing.T) {
	if c := onHost("node-1", "north"); c.Labels["host"] != "node-1" || c.Labels["zone"] != "north" {
		t.Errorf("%+v", c)
	}
}
