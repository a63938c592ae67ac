package security_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// measure is a kind of task whose input is as large as one wants.
var measure = assign.NewKind[[]byte, int]("measure", assign.Backoff(time.Millisecond, time.Second))

// TestPublishedSetsSuffice: with the published permissions every class does its part, through hand-overs, the death of a
// worker and messages of several frames, and the server has nothing to complain about.
func TestPublishedSetsSuffice(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var heard complaints
		owns(t, as(t, s, "owner", &heard))

		a := session(t, "a")
		handsOut, err := assign.New(a, assign.Config{Namespace: namespace, Role: scheduler, Slots: 2})
		if err != nil {
			t.Fatal(err)
		}
		measures(t, handsOut, nil)
		open(t, a, as(t, s, "a", &heard))
		leads := make(chan *election.Term, 16)
		campaign(t, a, election.RoleConfig{Role: scheduler, Lead: func(ctx context.Context, term *election.Term) error {
			leads <- term
			return handsOut.Lead(ctx, term)
		}})
		term := next(t, "a leads "+scheduler, leads)

		b := session(t, "b")
		open(t, b, as(t, s, "b", &heard))
		measuring := make(chan *election.Term, 16)
		eb := campaign(t, b, election.RoleConfig{Role: metrics, Lead: idle(measuring)})
		next(t, "b leads "+metrics, measuring)
		if ok, err := eb.ValidateToken(within(t, time.Minute)); !ok || err != nil {
			t.Errorf("b proves that it leads: %v, %v", ok, err)
		}

		link := s.Link()
		w := session(t, "w", workerOnly)
		works, err := assign.New(w, assign.Config{Namespace: namespace, Role: scheduler, Slots: 64})
		if err != nil {
			t.Fatal(err)
		}
		began, hold := make(chan struct{}, 16), make(chan struct{})
		measures(t, works, func(ctx context.Context) {
			select {
			case began <- struct{}{}:
			default:
			}
			select {
			case <-hold:
			case <-ctx.Done():
			}
		})
		open(t, w, as(t, s, "w", &heard, append(link.Options(), nats.ReconnectWait(50*time.Millisecond),
			nats.PingInterval(500*time.Millisecond), nats.MaxPingsOutstanding(2))...))

		observer, err := election.Observe(t.Context(), as(t, s, "o", &heard), bucket, election.WithWorkers())
		if err != nil {
			t.Fatal(err)
		}
		defer observer.Close()
		natstest.Eventually(t, "the observer sees all three members", time.Minute, func() (bool, string) {
			return len(observer.Members()) == 3, fmt.Sprintf("%+v", observer.Members())
		})

		// A submitter; inputs so large that a worker's frame takes several messages.
		client, err := assign.NewClient(as(t, s, "s", &heard), assign.ClientConfig{Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		var pending []*assign.Pending[int]
		for i := range 24 {
			p, err := assign.Submit(within(t, time.Minute), client, measure, bytes.Repeat([]byte("x"), 300<<10+i))
			if err != nil {
				t.Fatal(err)
			}
			pending = append(pending, p)
		}
		<-began
		close(hold)
		for i, p := range pending {
			if n, err := p.Wait(within(t, 10*time.Minute)); n != 300<<10+i || err != nil {
				t.Errorf("task %d: %d, %v", i, n, err)
			}
		}
		cancelled, err := assign.Submit(within(t, time.Minute), client, measure, nil, assign.WithDelay(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if err := cancelled.Cancel(within(t, time.Minute)); err != nil {
			t.Errorf("cancel: %v", err)
		}
		if st, err := cancelled.Status(within(t, time.Minute)); err != nil || st.State != assign.StateCancelled {
			t.Errorf("status of what was cancelled: %+v, %v", st, err)
		}
		if _, err := assign.Submit(within(t, time.Minute), handsOut, measure, nil, assign.WithID("of-a")); err != nil {
			t.Errorf("submitting by the scheduler itself: %v", err)
		}

		// The worker vanishes, and its session is ended by the scheduler's process.
		link.Cut()
		natstest.Eventually(t, "the session of the worker is ended", 5*time.Minute, func() (bool, string) {
			all := observer.Members()
			gone := !slices.ContainsFunc(all, func(m election.MemberInfo) bool { return m.Instance == "w" })
			return gone, fmt.Sprintf("%+v", all)
		})
		link.Heal()
		natstest.Eventually(t, "the worker has another session", 5*time.Minute, func() (bool, string) {
			all := observer.Members()
			return slices.ContainsFunc(all, func(m election.MemberInfo) bool { return m.Instance == "w" }), fmt.Sprintf("%+v", all)
		})

		// An operator steers, and evicts; the scheduler leads again each time, and asks the worker what it holds.
		operator, err := election.Observe(t.Context(), as(t, s, "op", &heard), bucket)
		if err != nil {
			t.Fatal(err)
		}
		defer operator.Close()
		if _, err := operator.StepDown(within(t, time.Minute), scheduler, term.Epoch()); err != nil {
			t.Errorf("step-down: %v", err)
		}
		term = next(t, "a leads again after it stepped down", leads)
		if err := operator.Evict(within(t, time.Minute), scheduler, term.Epoch()); err != nil {
			t.Errorf("evict: %v", err)
		}
		term = next(t, "a leads again after it was evicted", leads)
		after, err := assign.Submit(within(t, time.Minute), client, measure, []byte("abc"))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := after.Wait(within(t, 10*time.Minute)); n != 3 || err != nil {
			t.Errorf("a task of the last term: %d, %v", n, err)
		}

		keeps(t, as(t, s, "f", &heard), as(t, s, "r", &heard), term.Token())
		if said := heard.String(); said != "" {
			t.Errorf("the server complains:\n%s", said)
		}
	}, published(t))
}

// owns makes the bucket, the stream and the fenced store.
func owns(t *testing.T, nc *nats.Conn) {
	t.Helper()
	for _, name := range []string{bucket, ledger} {
		if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: name}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: namespace, StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := assign.Find(c, measure, "nothing")
	if _, err := p.Status(t.Context()); err == nil {
		t.Fatal("there is a task called nothing")
	}
}

// keeps does everything with a fenced store that can be done, and reads it with another client.
func keeps(t *testing.T, writer, reader *nats.Conn, token fencing.Token) {
	t.Helper()
	js, err := jetstream.New(writer)
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, time.Minute)
	store, err := fencing.OpenStore(ctx, js, ledger, token)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	var faults []error
	note := func(doing string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", doing, err))
		}
	}
	_, err = store.Put(ctx, "a", []byte("1"))
	note("put", err)
	revision, err := store.Create(ctx, "b", []byte("1"))
	note("create", err)
	_, err = store.Update(ctx, "b", []byte("2"), revision)
	note("update", err)
	_, err = store.Get(ctx, "b")
	note("get", err)
	_, err = store.Latest(ctx, "b")
	note("latest", err)
	keys, err := store.Keys(ctx)
	note("keys", err)
	if !slices.Equal(keys, []string{"a", "b"}) {
		t.Errorf("keys %v", keys)
	}
	for e, err := range store.Watch(ctx, "*") {
		note("watch", err)
		if e.Key == "" {
			break
		}
	}
	note("delete", store.Delete(ctx, "a"))
	for _, err := range faults {
		t.Error(err)
	}

	js, err = jetstream.New(reader)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(ctx, ledger)
	if err != nil {
		t.Fatalf("open the store for reading: %v", err)
	}
	if e, err := kv.Get(ctx, "b"); err != nil || string(e.Value()) != "2" {
		t.Errorf("the reader reads %v, %v", e, err)
	}
}

func open(t *testing.T, s *election.Session, nc *nats.Conn) {
	t.Helper()
	if err := s.Open(within(t, time.Minute), nc); err != nil {
		t.Fatalf("open the session of %s: %v", s.Instance(), err)
	}
}

func campaign(t *testing.T, s *election.Session, cfg election.RoleConfig) *election.Election {
	t.Helper()
	e, err := s.Campaign(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// measures handles tasks of the one kind, after doing something else first.
func measures(t *testing.T, a *assign.Assigner, first func(context.Context)) {
	t.Helper()
	err := assign.Handle(a, measure, func(ctx context.Context, task *assign.Task[[]byte]) (int, error) {
		if first != nil {
			first(ctx)
		}
		return len(task.Input), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
