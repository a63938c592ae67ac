package assign_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

var double = assign.NewKind[int, int]("double")

func doubling(t *testing.T, name string, ran *tally) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, double, func(_ context.Context, task *assign.Task[int]) (int, error) {
			ran.add(name, task.ID())
			return 2 * task.Input, nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// tally counts runs of tasks.
type tally struct {
	mu sync.Mutex
	by map[string]int
	of map[string]int
}

func newTally() *tally { return &tally{by: map[string]int{}, of: map[string]int{}} }

func (l *tally) add(worker, task string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by[worker]++
	l.of[task]++
}

// tasks is how often each task has run so far.
func (l *tally) tasks() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.of)
}

func (l *tally) max() (most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.of {
		most = max(most, n)
	}
	return most
}

func TestTasksSpreadOverThreeInstances(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) { spread(t, s) })
}

func TestTasksSpreadOverThreeInstancesInRealTime(t *testing.T) { spread(t, natstest.Server(t)) }

func spread(t *testing.T, s *natsrun.Server) {
	ran := newTally()
	var nodes []*node
	for _, name := range []string{"a", "b", "c"} {
		nodes = append(nodes, newNode(t, s, name, doubling(t, name, ran)))
	}
	c := New(t, s)
	const tasks = 200
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i := range tasks {
		all.Go(func() {
			p, err := assign.Submit(ctx, c, double, i)
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := p.Wait(ctx); err != nil || out != 2*i {
				t.Errorf("task %d: %d, %v", i, out, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		for _, n := range nodes {
			t.Log(n.dump())
		}
	}
	if len(ran.of) != tasks || ran.max() != 1 {
		t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
	}
	if len(ran.by) != 3 {
		t.Errorf("not every instance worked: %v", ran.by)
	}
	t.Log(fmt.Sprint(ran.by))
}
