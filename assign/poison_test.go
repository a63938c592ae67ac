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
)

// atHome lets the scheduler's own process run everything.
type atHome struct{}

func (atHome) Place(_ assign.Placed, among []assign.Candidate) int {
	for i := range among {
		if among[i].Own {
			return i
		}
	}
	return -1
}

func placing(p assign.Placement) nodeOption {
	return func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.Placement = p }
}

// TestPoisonTaskOfTheScheduler: a task takes down process after process, each of which has handed
// it to itself. Nobody is left to count, but the next one does; and in the end the task is dead,
// not everybody else.
func TestPoisonTaskOfTheScheduler(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var mu sync.Mutex
		var down []string
		nodes := map[string]*node{}
		poison := assign.NewKind[string, string]("poison")
		start := func(name string) *node {
			n := newNode(t, s, name, func(a *assign.Assigner) {
				if err := assign.Handle(a, poison, func(ctx context.Context, task *assign.Task[string]) (string, error) {
					if task.Input != "poison" {
						return "fine", nil
					}
					mu.Lock()
					down = append(down, name)
					n := nodes[name]
					mu.Unlock()
					n.link.Cut() // the process is gone, as far as anybody else can tell
					<-ctx.Done()
					return "", ctx.Err()
				}); err != nil {
					t.Error(err)
				}
			}, placing(atHome{}))
			mu.Lock()
			defer mu.Unlock()
			nodes[name] = n
			return n
		}
		for i := range 7 {
			start(fmt.Sprint("n", i))
		}
		all := make([]*node, 0, len(nodes))
		for _, n := range nodes {
			all = append(all, n)
		}
		leader(t, all...)
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, poison, "poison")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		_, err = p.Wait(ctx)
		mu.Lock()
		defer mu.Unlock()
		var failed *assign.TaskError
		if !errors.As(err, &failed) || failed.Status != assign.StateDead || failed.Cause != "worker_lost" {
			t.Errorf("it ended with %v after it took down %v", err, down)
		}
		// The first scheduler had no reason to suspect anything; then each is counted.
		if len(down) < 3 || len(down) > 4 {
			t.Errorf("it took down %v, want 3, and one that was not counted at most", down)
		}
		told := 0
		for _, n := range all {
			told += n.count(func(e event.Event) bool {
				f, ok := e.(event.Fault)
				return ok && errors.Is(f.Err, assign.ErrSuspect) && strings.Contains(f.Doing, p.ID())
			})
		}
		if told < 2 { // each but the last, of which it is dead, and one that was not counted
			t.Errorf("it was told %d times that it is a suspect, after it took down %v", told, down)
		}
		q, err := assign.Submit(ctx, c, poison, "harmless")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := q.Wait(ctx); out != "fine" {
			t.Errorf("%q, %v", out, err)
		}
		for _, name := range down {
			nodes[name].link.Heal()
		}
	})
}

// TestPoisonTaskAfterAPeacefulTerm: a scheduler that has led for a while without running the task,
// and was stopped cleanly, does not make everybody forget what the one before it died of.
func TestPoisonTaskAfterAPeacefulTerm(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var mu sync.Mutex
		var down []string
		nodes := map[string]*node{}
		poison := assign.NewKind[string, string]("poison")
		var all []*node
		for i := range 7 {
			name := fmt.Sprint("n", i)
			n := newNode(t, s, name, func(a *assign.Assigner) {
				if err := assign.Handle(a, poison, func(ctx context.Context, _ *assign.Task[string]) (string, error) {
					mu.Lock()
					down = append(down, name)
					n := nodes[name]
					mu.Unlock()
					n.link.Cut()
					<-ctx.Done()
					return "", ctx.Err()
				}); err != nil {
					t.Error(err)
				}
			}, placing(atHome{}))
			mu.Lock()
			nodes[name] = n
			mu.Unlock()
			all = append(all, n)
		}
		fallen := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(down)
		}
		leader(t, all...)
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, poison, "poison")
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the first is down", time.Minute, func() (bool, string) { return fallen() == 1, "not yet" })
		if err := assign.PauseKind(t.Context(), c, "poison", "so that the next one lives"); err != nil {
			t.Fatal(err)
		}
		rest := make([]*node, 0, len(all))
		for _, n := range all {
			if n.name != down[0] {
				rest = append(rest, n)
			}
		}
		ready := func(n *node) func() (bool, string) {
			return func() (bool, string) {
				o, err := assign.GetOverview(t.Context(), c)
				return err == nil && o.Ready && (n == nil || o.Scheduler != n.name), fmt.Sprintf("%+v, %v", o, err)
			}
		}
		peaceful := leader(t, rest...)
		natstest.Eventually(t, "the second hands out", time.Minute, ready(nil))
		peaceful.close(t)
		natstest.Eventually(t, "the third hands out", time.Minute, ready(peaceful))
		if n := fallen(); n != 1 {
			t.Fatalf("%d are down: the kind was not paused in time", n)
		}
		if err := assign.ResumeKind(t.Context(), c, "poison"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		_, err = p.Wait(ctx)
		mu.Lock()
		defer mu.Unlock()
		var failed *assign.TaskError
		if !errors.As(err, &failed) || failed.Cause != "worker_lost" || len(down) != 4 {
			t.Errorf("it ended with %v after it took down %v; want the first, which nobody could count, and three more",
				err, down)
		}
		for _, name := range down {
			nodes[name].link.Heal()
		}
	})
}

// counting is a placement that notes what it is asked.
type counting struct {
	mu    sync.Mutex
	asked map[string]int
}

func (p *counting) Place(task assign.Placed, among []assign.Candidate) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[fmt.Sprint(task.Kind, task.Slots, task.Priority, task.Sticky)]++
	for i := range among {
		if among[i].Instance == "b" {
			return i
		}
	}
	return -1
}

// TestPlacement: the Placement is asked for every task, and may let it wait.
func TestPlacement(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("placed", assign.Slots(3), assign.Priority(7))
		p := &counting{asked: map[string]int{}}
		a := newNode(t, s, "a", r.handle(t, "a", k), placing(p), slots(64))
		leader(t, a)
		b := newNode(t, s, "b", r.handle(t, "b", k), workerOnly, slots(7))
		c := New(t, s)
		var all []*assign.Pending[string]
		for i := range 20 {
			all = append(all, submitNamed(t, c, k, fmt.Sprint("placed-", i), 100*time.Millisecond, assign.WithSticky("s")))
		}
		waitAll(t, all, a, b)
		for id, node := range r.nodes() {
			if node != "b" {
				t.Errorf("%s ran on %s, want b", id, node)
			}
		}
		if n := r.peak("placed"); n != 2 {
			t.Errorf("%d ran at once, want 2: each takes 3 of 7 slots", n)
		}
		if n := a.count(func(e event.Event) bool { _, ok := e.(event.TaskRejected); return ok }); n > 0 {
			t.Errorf("%d assignments were rejected: scheduler and worker count slots differently", n)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.asked["placed3 7s"] < 20 || len(p.asked) != 1 {
			t.Errorf("asked for %v", p.asked)
		}
	})
}
