package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// held is a handler that each task tells how it ends: by its own gate, by its context, or by
// neither.
type held struct {
	mu      sync.Mutex
	gates   map[string]chan struct{}
	started map[string][]string
	causes  map[string]error
}

func newHeld(tasks ...string) *held {
	h := &held{gates: map[string]chan struct{}{}, started: map[string][]string{}, causes: map[string]error{}}
	for _, id := range tasks {
		h.gates[id] = make(chan struct{})
	}
	return h
}

func (h *held) register(t *testing.T, name string) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, slow, func(ctx context.Context, task *assign.Task[string]) (string, error) {
			h.mu.Lock()
			h.started[task.ID()] = append(h.started[task.ID()], name)
			gate := h.gates[task.ID()]
			h.mu.Unlock()
			ends := ctx.Done()
			if task.Input == "stubborn" {
				ends = nil
			}
			select {
			case <-gate:
				return "by " + name, nil
			case <-ends:
				h.mu.Lock()
				defer h.mu.Unlock()
				h.causes[task.ID()] = context.Cause(ctx)
				return "", ctx.Err()
			}
		}); err != nil {
			t.Error(err)
		}
	}
}

func (h *held) by(id string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.started[id]...)
}

func (h *held) cause(id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.causes[id]
}

func (h *held) submit(t *testing.T, c assign.Submitter, input string, ids ...string) (all []*assign.Pending[string]) {
	t.Helper()
	for _, id := range ids {
		p, err := assign.Submit(t.Context(), c, slow, input, assign.WithID(id))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
		natstest.Eventually(t, id+" runs", 10*time.Second, func() (bool, string) { return len(h.by(id)) > 0, "" })
	}
	return all
}

func drainTimeout(d time.Duration) nodeOption {
	return func(s *election.SessionConfig, a *assign.Config, _ *bool) { s.DrainTimeout, a.DrainTimeout = 10*d, d }
}

// closing closes a node in the background; done is closed when that has ended.
func closing(t *testing.T, n *node) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		n.close(t)
	}()
	return done
}

// TestDrainFinishesWhatRuns, the first phase: a worker that shuts down takes nothing new, and what
// it runs may finish.
func TestDrainFinishesWhatRuns(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h := newHeld("one", "new")
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", h.register(t, "w"), workerOnly, drainTimeout(time.Hour))
		c := New(t, s)
		running := h.submit(t, c, "x", "one")[0]
		done := closing(t, w)
		natstest.Settle(t)
		fresh, err := assign.Submit(t.Context(), c, slow, "x", assign.WithID("new"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // virtual: it would have been given to a worker long since
		if by := h.by("new"); len(by) != 0 {
			t.Errorf("the worker that shuts down has taken another task: %v", by)
		}
		close(h.gates["one"])
		if out, err := running.Wait(t.Context()); out != "by w" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		<-done // long before its timeout: there is nothing left
		newNode(t, s, "x", h.register(t, "x"), workerOnly)
		close(h.gates["new"])
		if out, err := fresh.Wait(t.Context()); out != "by x" || err != nil {
			t.Errorf("%q, %v\n%s", out, err, a.dump())
		}
		for _, p := range []*assign.Pending[string]{running, fresh} {
			if st, err := p.Status(t.Context()); err != nil || st.Attempts != 1 {
				t.Errorf("%+v, %v", st, err)
			}
		}
	})
}

// TestDrainGivesBack, the second phase: after the timeout, handlers that still run are cancelled,
// with that cause, and their tasks given back uncounted. Results from before count.
func TestDrainGivesBack(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h := newHeld("quick", "long")
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", h.register(t, "w"), workerOnly, drainTimeout(10*time.Second))
		c := New(t, s)
		both := h.submit(t, c, "x", "quick", "long")
		x := newNode(t, s, "x", h.register(t, "x"), workerOnly)
		began := time.Now()
		done := closing(t, w)
		time.Sleep(5 * time.Second)
		if h.cause("long") != nil || len(h.by("long")) != 1 {
			t.Errorf("within the timeout: %v, %v", h.cause("long"), h.by("long"))
		}
		close(h.gates["quick"])
		<-done
		if took := time.Since(began); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("the drain took %v, its timeout is 10 s", took)
		}
		if n := w.count(func(e event.Event) bool {
			f, ok := e.(event.Fault)
			return ok && errors.Is(f.Err, assign.ErrHandlersStuck)
		}); n != 0 {
			t.Errorf("%d faults of handlers that were left behind: they have returned\n%s", n, w.dump())
		}
		if !errors.Is(h.cause("long"), assign.ErrDraining) {
			t.Errorf("cancelled by %v", h.cause("long"))
		}
		close(h.gates["long"])
		for i, want := range []string{"by w", "by x"} {
			out, err := both[i].Wait(t.Context())
			st, statusErr := both[i].Status(t.Context())
			if out != want || err != nil || statusErr != nil || st.Attempts != 1 {
				t.Errorf("%s: %q, %v; %+v, %v\n%s%s", both[i].ID(), out, err, st, statusErr, a.dump(), x.dump())
			}
		}
		if n := a.count(isReassigned("released")); n != 1 {
			t.Errorf("%d were given back, want 1", n)
		}
	})
}

// TestDrainLeavesTheStubborn, the last phase: a handler that ignores its context is left behind,
// and does not hold the shut-down up. Its task is run again when the session is dead, and what the
// handler returns counts for nothing.
func TestDrainLeavesTheStubborn(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h := newHeld("stuck")
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", h.register(t, "w"), workerOnly, drainTimeout(time.Second))
		c := New(t, s)
		p := h.submit(t, c, "stubborn", "stuck")[0]
		began := time.Now()
		if err := w.session.Close(t.Context()); !errors.Is(err, assign.ErrHandlersStuck) ||
			!strings.HasSuffix(err.Error(), ": stuck (slow)") {
			t.Errorf("the session is closed with %v", err)
		}
		w.close(t)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("the shut-down took %v", took)
		}
		if n := w.count(func(e event.Event) bool {
			f, ok := e.(event.Fault)
			return ok && errors.Is(f.Err, assign.ErrHandlersStuck) && strings.HasSuffix(f.Err.Error(), ": stuck (slow)")
		}); n != 1 {
			t.Errorf("%d faults name the handler that was left behind, want 1\n%s", n, w.dump())
		}
		newNode(t, s, "x", h.register(t, "x"), workerOnly)
		natstest.Eventually(t, "it runs elsewhere", 30*time.Second, func() (bool, string) {
			by := h.by("stuck")
			return len(by) == 2 && by[1] == "x", fmt.Sprint(by, a.dump())
		})
		close(h.gates["stuck"])
		if out, err := p.Wait(t.Context()); out != "by x" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		natstest.Settle(t)
	})
}

// TestDrainWithDefaults: every time limit is the default one, and the manager closes the session. A
// handler that does not end by itself is cancelled as draining, and its task is given back
// uncounted.
func TestDrainWithDefaults(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h := newHeld("one")
		a := newNode(t, s, "a", nil)
		leader(t, a)
		m, err := roles.New(roles.Config{
			Conn: natstest.Connect(t, s), Bucket: "roles", InstanceID: "w", TTL: testTTL,
		})
		if err != nil {
			t.Fatal(err)
		}
		w, err := assign.New(m.Session(), assign.Config{Namespace: testNS, Role: testRole})
		if err != nil {
			t.Fatal(err)
		}
		h.register(t, "w")(w)
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- m.Run(ctx) }()
		p := h.submit(t, New(t, s), "x", "one")[0]
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if cause := h.cause("one"); !errors.Is(cause, assign.ErrDraining) {
			t.Errorf("the handler was ended by %v, want %v", cause, assign.ErrDraining)
		}
		if st, err := p.Status(t.Context()); err != nil || st.Attempts != 0 {
			t.Errorf("%+v, %v: what was given back must not count", st, err)
		}
		if n := a.count(isReassigned("released")); n != 1 {
			t.Errorf("%d tasks were given back, want 1\n%s", n, a.dump())
		}
	})
}
