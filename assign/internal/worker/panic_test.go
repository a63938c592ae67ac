package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/internal/worker"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

const (
	namespace, role, kind = "work", "scheduler", "kind"
	ttl                   = 2 * time.Second
)

// diary is what handlers and events of a process say.
type diary struct {
	mu     sync.Mutex
	faults []event.Fault
	at     []time.Time // of the faults
	lost   int         // sessions that ended of them
	runs   map[string]int
	beside []string // tasks that ran beside themselves
	now    map[string]int
	causes []error // with which contexts of handlers ended
}

func (d *diary) Observe(e event.Event) {
	if l, is := e.(event.SessionLost); is && strings.Contains(fmt.Sprint(l.Reason, l.Cause), "loop has panicked") {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.lost++
	}
	f, is := e.(event.Fault)
	if !is || !errors.Is(f.Err, assign.ErrWorkerPanicked) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults, d.at = append(d.faults, f), append(d.at, time.Now())
}

func (d *diary) count(of func() int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return of()
}

func (d *diary) enter(id string) (try int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runs[id]++
	if d.now[id]++; d.now[id] > 1 {
		d.beside = append(d.beside, id)
	}
	return d.runs[id]
}

func (d *diary) leave(id string, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now[id]--
	if cause != nil {
		d.causes = append(d.causes, cause)
	}
}

func open(t *testing.T, s *natsrun.Server, c election.SessionConfig, attach func(*election.Session)) *election.Session {
	t.Helper()
	nc, err := s.Connect(nats.Name(c.InstanceID))
	if err != nil {
		t.Fatal(err)
	}
	c.Bucket, c.BucketAutoCreate, c.TTL = "roles", true, ttl
	session, err := election.NewSession(c)
	if err != nil {
		t.Fatal(err)
	}
	attach(session)
	if err := session.Open(t.Context(), nc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(context.Background()); err != nil {
			t.Error(err)
		}
		nc.Close()
	})
	return session
}

// TestAPanicOfTheLoop: the session ends at once, with the contexts of its handlers. The process
// rests longer after each panic, and then works as before. A handler that ignores its context is
// not run beside itself.
func TestAPanicOfTheLoop(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		d := &diary{runs: map[string]int{}, now: map[string]int{}}
		gate := make(chan struct{})
		handlers := worker.NewRegistry(nil)
		var a *assign.Assigner
		lead := open(t, s, election.SessionConfig{InstanceID: "a"}, func(session *election.Session) {
			var err error
			a, err = assign.New(session, assign.Config{Namespace: namespace, Role: role, StreamAutoCreate: true})
			if err != nil {
				t.Fatal(err)
			}
		})
		e, err := lead.Campaign(election.RoleConfig{Role: role})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = e.Run(context.Background(), a.Lead) }() // ends with its session
		w := open(t, s, election.SessionConfig{InstanceID: "w", WorkerOnly: true, Sinks: []event.Sink{d}},
			func(session *election.Session) {
				cfg := worker.Config{
					Namespace: namespace, Role: role, Slots: 4, DrainTimeout: ttl,
					AnswerTimeout: 500 * time.Millisecond, MaxResult: 1 << 20,
				}
				err := errors.Join(
					session.Attach("work", func(ctx context.Context, h election.Host) error {
						return worker.Run(ctx, bridge.LeaseOf(h).(worker.Host), session, cfg, handlers)
					}),
					handlers.Add(worker.Handled{Name: kind, Shape: "string"},
						func(ctx context.Context, _ []byte, run bridge.TaskRun) ([]byte, error) {
							if d.enter(run.ID) > 1 {
								d.leave(run.ID, nil)
								return []byte(`"again"`), nil
							}
							<-ctx.Done()
							if run.ID == "stubborn" {
								<-gate
							}
							d.leave(run.ID, context.Cause(ctx))
							return nil, context.Cause(ctx)
						},
						func(kinds []string, build string) error {
							return bridge.Offer(session, namespace, cfg.Slots, kinds, nil, build)
						}))
				if err != nil {
					t.Fatal(err)
				}
			})
		nc, err := s.Connect()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: namespace, StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var all []*assign.Pending[string]
		for _, id := range []string{"willing", "stubborn"} {
			p, err := assign.Submit(t.Context(), c, assign.NewKind[string, string](kind), "", assign.WithID(id))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		both := func() int { return d.now["willing"] + d.now["stubborn"] }
		natstest.Eventually(t, "both run", time.Minute, func() (bool, string) { return d.count(both) == 2, "" })
		first := bridge.Number(w)
		handlers.Poison()
		natstest.Eventually(t, "four panics", time.Minute, func() (bool, string) {
			return d.count(func() int { return len(d.faults) }) >= 4, ""
		})
		handlers.Cure()
		if out, err := all[0].Wait(t.Context()); out != "again" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		if now := bridge.Number(w); now == first || now == 0 {
			t.Errorf("session %d, before it was %d", now, first)
		}
		close(gate)
		if out, err := all[1].Wait(t.Context()); out != "again" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.lost != len(d.faults) {
			t.Errorf("%d panics ended %d sessions", len(d.faults), d.lost)
		}
		if len(d.beside) > 0 {
			t.Errorf("%v ran beside themselves", d.beside)
		}
		for _, cause := range d.causes {
			if !errors.Is(cause, assign.ErrSessionLost) {
				t.Errorf("a handler ended with %v", cause)
			}
		}
		for i, f := range d.faults {
			if f.Attempts != i+1 || !strings.Contains(f.Err.Error(), "declaredKinds") {
				t.Errorf("%+v", f)
			}
			if pause := time.Second << max(i-1, 0); i > 0 && d.at[i].Sub(d.at[i-1]) < pause {
				t.Errorf("panic %d came %v after the one before it, it was to rest for %v", i+1, d.at[i].Sub(d.at[i-1]), pause)
			}
		}
	})
}
