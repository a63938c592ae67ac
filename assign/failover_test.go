package assign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

var slow = assign.NewKind[string, string]("slow", assign.Backoff(100*time.Millisecond, time.Second))

// bench is where handlers of slow wait until they are let go, and what they saw.
type bench struct {
	mu      sync.Mutex
	started map[string][]string // task → who started it, in order
	live    map[string]int
	most    int // live handlers of one task at once
	causes  map[string]error
	gate    chan struct{} // closed: everybody may finish
}

func newBench() *bench {
	return &bench{
		started: map[string][]string{}, live: map[string]int{}, causes: map[string]error{},
		gate: make(chan struct{}),
	}
}

func (b *bench) register(t *testing.T, name string) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, slow, func(ctx context.Context, task *assign.Task[string]) (string, error) {
			b.mu.Lock()
			b.started[task.ID()] = append(b.started[task.ID()], name)
			b.live[task.ID()]++
			b.most = max(b.most, b.live[task.ID()])
			b.mu.Unlock()
			defer func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.live[task.ID()]--
			}()
			select {
			case <-b.gate:
				return task.Input + " by " + name, nil
			case <-ctx.Done():
				b.mu.Lock()
				defer b.mu.Unlock()
				b.causes[name] = context.Cause(ctx)
				return "", ctx.Err()
			}
		}); err != nil {
			t.Error(err)
		}
	}
}

func (b *bench) startedTotal() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, by := range b.started {
		n += len(by)
	}
	return n
}

func (b *bench) by(name string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, by := range b.started {
		for _, x := range by {
			if x == name {
				n++
			}
		}
	}
	return n
}

func submitSlow(t *testing.T, c assign.Submitter, n int) (all []*assign.Pending[string]) {
	t.Helper()
	for i := range n {
		p, err := assign.Submit(t.Context(), c, slow, fmt.Sprint("task ", i), assign.WithID(fmt.Sprint("slow-", i)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func waitAll[Out any](t *testing.T, all []*assign.Pending[Out], nodes ...*node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for _, p := range all {
		if _, err := p.Wait(ctx); err != nil {
			t.Errorf("%s: %v", p.ID(), err)
		}
	}
	if t.Failed() {
		for _, n := range nodes {
			t.Log(n.dump())
		}
	}
}

func (b *bench) allStarted(t *testing.T, n int) {
	t.Helper()
	natstest.Eventually(t, "every task runs", 30*time.Second, func() (bool, string) {
		k := b.startedTotal()
		return k >= n, fmt.Sprint(k, " of ", n)
	})
}

func isReassigned(cause string) func(event.Event) bool {
	return func(e event.Event) bool {
		r, ok := e.(event.TaskReassigned)
		return ok && r.Cause == cause
	}
}

// beside starts a worker, w, that is to be lost, and others beside it: first a scheduler, then two
// workers. Tasks that were lost are suspects, and the others try them in two places with room for
// all of them.
func beside(t *testing.T, s *natsrun.Server, b *bench) (c *assign.Client, w *node, others []*node) {
	others = append(others, newNode(t, s, "a", b.register(t, "a")))
	leader(t, others...)
	w = newNode(t, s, "w", b.register(t, "w"), workerOnly)
	for _, id := range []string{"v", "u"} {
		others = append(others, newNode(t, s, id, b.register(t, id), workerOnly))
	}
	c = New(t, s)
	natstest.Eventually(t, "the scheduler knows all workers", 30*time.Second, func() (bool, string) {
		o, err := assign.GetOverview(t.Context(), c)
		return err == nil && len(o.Workers) == 4 && !slices.ContainsFunc(o.Workers, func(w assign.WorkerOverview) bool {
			return w.Slots == 0
		}), fmt.Sprintf("%+v, %v", o, err)
	})
	return c, w, others
}

func TestWorkerCrashReruns(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		c, w, others := beside(t, s, b)
		all := submitSlow(t, c, 8)
		b.allStarted(t, 8)
		lost := b.by("w")
		if lost == 0 {
			t.Fatal("nothing runs on the worker that is to crash")
		}
		w.link.Cut()
		cut := time.Now()
		b.allStarted(t, 8+lost)
		if took := time.Since(cut); took > testTTL+time.Second {
			t.Errorf("rerun %v after the crash", took)
		}
		close(b.gate)
		waitAll(t, all, append(others, w)...)
		if b.most > 1 {
			t.Errorf("%d handlers of one task were live at once", b.most)
		}
		if n := others[0].count(isReassigned("worker_lost")); n != lost {
			t.Errorf("%d reassignments for a lost worker, want %d", n, lost)
		}
		natstest.Eventually(t, "the worker that was cut off has cancelled", 10*time.Second, func() (bool, string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return errors.Is(b.causes["w"], assign.ErrSessionLost), fmt.Sprint(b.causes["w"])
		})
		w.link.Heal()
	})
}

func TestSchedulerCrashAdopts(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		off := func(_ *natsrun.Server, n string) *node {
			return newNode(t, s, n, nil) // schedules only: it has no handlers
		}
		a, z := off(s, "a"), off(s, "z")
		w1 := newNode(t, s, "w1", b.register(t, "w1"), workerOnly)
		w2 := newNode(t, s, "w2", b.register(t, "w2"), follower)
		c := New(t, s)
		all := submitSlow(t, c, 10)
		b.allStarted(t, 10)
		first := leader(t, a, z)
		second := a
		if first == a {
			second = z
		}
		first.link.Cut()
		leader(t, second)
		late := submitSlow2(t, c)
		natstest.Eventually(t, "the successor hands out", 30*time.Second, func() (bool, string) {
			return b.startedTotal() >= 11, fmt.Sprint(b.startedTotal())
		})
		close(b.gate)
		waitAll(t, append(all, late), second, w1, w2)
		if n := b.startedTotal(); n != 11 {
			t.Errorf("%d handlers were started, want 11: tasks were rerun", n)
		}
		adopted := 0
		second.count(func(e event.Event) bool {
			if r, ok := e.(event.TaskRecovered); ok {
				adopted += r.Adopted
			}
			return false
		})
		if adopted != 10 {
			t.Errorf("%d tasks adopted, want 10\n%s", adopted, second.dump())
		}
		first.link.Heal()
	})
}

func submitSlow2(t *testing.T, c assign.Submitter) *assign.Pending[string] {
	t.Helper()
	p, err := assign.Submit(t.Context(), c, slow, "late", assign.WithID("late"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDeposedSchedulersWritesAreRefused: the outcomes that a scheduler writes are held on their
// way, another one takes over and writes its own, and the held ones are let go: they arrive, the
// server refuses each, and no record is written again.
func TestDeposedSchedulersWritesAreRefused(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
		c := New(t, s)
		all := submitSlow(t, c, 4)
		b.allStarted(t, 4)
		first, second := leader(t, a, z), z
		if first == z {
			second = a
		}
		spy := natstest.Connect(t, s)
		seal := record(t, spy, "seal").Sequence // no write of it is unknown yet: it keeps this seal
		reports := overhear(t, spy, said+".report.w")
		first.link.Hold(natsrun.ToServer)
		close(b.gate)
		natstest.Eventually(t, "it hears of an outcome", 10*time.Second, func() (bool, string) {
			return len(reports.all()) > 0, w.dump()
		})
		leader(t, second)
		waitAll(t, all, second, w)
		if now := record(t, spy, "seal").Sequence; now == seal {
			t.Fatal("the second scheduler has no seal of its own")
		}
		before := map[string]uint64{}
		for _, p := range all {
			before[p.ID()] = record(t, spy, "q."+p.ID()).Sequence
		}
		writes, answers := overhear(t, spy, stored+"q.*"), overhear(t, spy, "_INBOX.>")
		first.link.Release()
		natstest.Eventually(t, "a held write arrives", 10*time.Second, func() (bool, string) {
			return len(writes.all()) > 0, fmt.Sprintf("%+v", first.link.Stats())
		})
		time.Sleep(3 * time.Second) // virtual: all of them arrive
		for _, p := range all {
			if now := record(t, spy, "q."+p.ID()).Sequence; now != before[p.ID()] {
				t.Errorf("%s was at revision %d, is at %d", p.ID(), before[p.ID()], now)
			}
		}
		refusals := map[string]bool{}
		for _, m := range answers.all() {
			if strings.Contains(string(m.Data), fmt.Sprintf(`"err_code":%d`, jetstream.JSErrCodeStreamWrongLastSequence)) {
				refusals[m.Subject] = true
			}
		}
		for _, m := range writes.all() {
			if under := m.Header.Get("Nats-Expected-Last-Subject-Sequence"); under != fmt.Sprint(seal) {
				t.Errorf("%s was written under %q, and not under the first one's seal, %d", m.Subject, under, seal)
			}
			if !refusals[m.Reply] {
				t.Errorf("the held write to %s was not refused", m.Subject)
			}
		}
		if n := b.startedTotal(); n != 4 {
			t.Errorf("%d handlers were started, want 4", n)
		}
	})
}
