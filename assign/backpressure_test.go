package assign_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// pressure is what workers see that are slower than what comes.
type pressure struct {
	mu         sync.Mutex
	live, most map[string]int // handlers, by worker
	ran        map[string]int // by task
}

func (p *pressure) register(t *testing.T, k assign.Kind[time.Duration, string], name string) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, k, func(ctx context.Context, task *assign.Task[time.Duration]) (string, error) {
			p.mu.Lock()
			p.live[name]++
			p.most[name] = max(p.most[name], p.live[name])
			p.ran[task.ID()]++
			p.mu.Unlock()
			defer func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.live[name]--
			}()
			select {
			case <-time.After(task.Input):
				return name, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}); err != nil {
			t.Error(err)
		}
	}
}

func (p *pressure) started() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ran)
}

// TestBackpressure: far more comes than two workers run, while nobody schedules, while somebody
// does, and when it goes away for a while. Submitters do not wait for any of it. No worker is
// handed more than it has slots for: a backlog stays in the stream, and without a scheduler workers
// finish what they have, and begin nothing.
func TestBackpressure(t *testing.T) {
	costly(t)
	thorough.Only(t, "it submits more than is run for a while")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const (
			perPhase, perWorker = 400, 4
			each                = 100 * time.Millisecond
		)
		k := assign.NewKind[time.Duration, string]("slow", assign.Retention(time.Hour))
		p := &pressure{live: map[string]int{}, most: map[string]int{}, ran: map[string]int{}}
		c := New(t, s)
		var all []*assign.Pending[string]
		submit := func(phase string) {
			t.Helper()
			for i := range perPhase {
				began := time.Now()
				one, err := assign.Submit(t.Context(), c, k, each, assign.WithID(fmt.Sprint(phase, "-", i)))
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("%s: a submission took %v", phase, took)
				}
				all = append(all, one)
			}
		}
		frames := overhear(t, natstest.Connect(t, s), said+".work.assign.*")

		var workers []*node
		for _, name := range []string{"w1", "w2"} {
			workers = append(workers, newNode(t, s, name, p.register(t, k, name), workerOnly, slots(perWorker)))
		}
		submit("before")
		if n := p.started(); n != 0 {
			t.Fatalf("%d were begun before anybody schedules", n)
		}

		a := newNode(t, s, "a", nil)
		leader(t, a)
		natstest.Eventually(t, "both workers are busy", 10*time.Second,
			func() (bool, string) { return p.started() >= 3*perWorker, fmt.Sprint(p.started()) })
		submit("during")

		a.link.Cut()
		time.Sleep(2 * testTTL) // it has lost its session, and whatever was on its way has come
		before := p.started()
		submit("away")
		time.Sleep(10 * testTTL)
		if n := p.started(); n != before {
			t.Errorf("%d were begun while nobody schedules", n-before)
		}
		if before < 3*perWorker || before > perPhase {
			t.Errorf("%d were begun before that: the workers were not busy, or too fast", before)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := all[0].Status(ctx); err != nil && !errors.Is(err, assign.ErrNoScheduler) {
			t.Error(err)
		}

		a.link.Heal()
		waitAll(t, all, a)
		for name, most := range p.most {
			if most != perWorker {
				t.Errorf("%s ran %d at once, want its %d slots", name, most, perWorker)
			}
		}
		for id, n := range p.ran {
			if n != 1 {
				t.Errorf("%s ran %d times", id, n)
			}
		}
		for _, m := range frames.all() {
			if _, list := assigned(t, m); len(list) > perWorker {
				t.Errorf("%d tasks in one frame for %d slots", len(list), perWorker)
			}
		}
		for _, n := range append(workers, a) {
			if full := n.count(isRejected("full")); full > 0 {
				t.Errorf("%s has refused %d tasks, since it was full", n.name, full)
			}
		}
		if len(p.ran) != 3*perPhase {
			t.Errorf("%d have run, want %d", len(p.ran), 3*perPhase)
		}
	})
}
