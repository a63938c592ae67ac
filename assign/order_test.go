package assign_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// roll records which tasks were started, in order, on whom, and how many of them ran at once. A
// task whose input is not 0 runs for so long.
type roll struct {
	mu      sync.Mutex
	order   []string
	on      map[string]string
	at      map[string]time.Time
	live    map[string]int // by kind
	most    map[string]int
	waiting chan struct{} // closed: what waits for it may continue
}

func newRoll() *roll {
	return &roll{
		on: map[string]string{}, at: map[string]time.Time{}, live: map[string]int{}, most: map[string]int{},
		waiting: make(chan struct{}),
	}
}

// handle makes a node run a kind.
func (r *roll) handle(t *testing.T, node string, kinds ...assign.Kind[time.Duration, string]) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		for _, k := range kinds {
			if err := assign.Handle(a, k, func(ctx context.Context, task *assign.Task[time.Duration]) (string, error) {
				return node, r.run(ctx, node, task)
			}); err != nil {
				t.Error(err)
			}
		}
	}
}

func (r *roll) run(ctx context.Context, node string, task *assign.Task[time.Duration]) error {
	r.mu.Lock()
	r.order = append(r.order, task.ID())
	r.on[task.ID()], r.at[task.ID()] = node, time.Now()
	r.live[task.Kind()]++
	r.most[task.Kind()] = max(r.most[task.Kind()], r.live[task.Kind()])
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.live[task.Kind()]--
	}()
	var over <-chan time.Time
	var gate <-chan struct{}
	switch {
	case task.Input > 0:
		timer := time.NewTimer(task.Input)
		defer timer.Stop()
		over = timer.C
	case task.Input < 0:
		gate = r.waiting
	default:
		return nil
	}
	select {
	case <-over:
	case <-gate:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func (r *roll) started() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.order)
}

// nodes says where each task was started last.
func (r *roll) nodes() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.on)
}

// peak is how many tasks of a kind ran at once.
func (r *roll) peak(kind string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most[kind]
}

// untilGate is the input of a task that runs until the roll's gate is open.
const untilGate = time.Duration(-1)

func submitNamed(t *testing.T, c assign.Submitter, k assign.Kind[time.Duration, string], id string, in time.Duration,
	opts ...assign.SubmitOption,
) *assign.Pending[string] {
	t.Helper()
	p, err := assign.Submit(t.Context(), c, k, in, append(opts, assign.WithID(id))...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// awaitStarted waits until so many tasks have been started.
func (r *roll) awaitStarted(t *testing.T, n int) {
	t.Helper()
	natstest.Eventually(t, fmt.Sprint(n, " tasks have started"), 30*time.Second, func() (bool, string) {
		got := r.started()
		return len(got) >= n, fmt.Sprint(got)
	})
}

func aging(step time.Duration) nodeOption {
	return func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.AgingStep = step }
}

// TestPriorityWithAging: a more urgent task goes first, as long as the other has not waited for too
// long.
func TestPriorityWithAging(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		urgent := assign.NewKind[time.Duration, string]("urgent")
		plain := assign.NewKind[time.Duration, string]("plain")
		a := newNode(t, s, "a", r.handle(t, "a", urgent, plain), slots(1), aging(time.Second))
		leader(t, a)
		c := New(t, s)
		all := []*assign.Pending[string]{submitNamed(t, c, plain, "first", untilGate)}
		r.awaitStarted(t, 1)
		all = append(all, submitNamed(t, c, plain, "old", 0, assign.WithPriority(1)))
		time.Sleep(4500 * time.Millisecond)
		all = append(
			all,
			submitNamed(t, c, plain, "low", 0, assign.WithPriority(-1)),
			submitNamed(t, c, plain, "middle", 0),
			submitNamed(t, c, urgent, "high", 0, assign.WithPriority(50)), // of another kind
			submitNamed(t, c, plain, "younger", 0, assign.WithPriority(5)),
			submitNamed(t, c, plain, "high-too", 0, assign.WithPriority(50)),
			submitNamed(t, c, plain, "six", 0, assign.WithPriority(6)),
		)
		natstest.Settle(t) // the scheduler has read them all
		close(r.waiting)
		waitAll(t, all, a)
		want := []string{"first", "high", "high-too", "six", "old", "younger", "middle", "low"}
		if got := r.started(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// TestOrderSurvivesFailover: the next scheduler continues in the same order.
func TestOrderSurvivesFailover(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("plain")
		a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
		w := newNode(t, s, "w", r.handle(t, "w", k), slots(1), workerOnly)
		c := New(t, s)
		all := []*assign.Pending[string]{submitNamed(t, c, k, "first", untilGate)}
		r.awaitStarted(t, 1)
		want := []string{"first"}
		for i := range 20 {
			id := fmt.Sprintf("task-%02d", i)
			all = append(all, submitNamed(t, c, k, id, 0, assign.WithPriority(-i)))
			want = append(want, id)
			time.Sleep(100 * time.Millisecond)
		}
		first, second := leader(t, a, z), z
		if first == z {
			second = a
		}
		first.link.Cut()
		leader(t, second)
		natstest.Settle(t)
		close(r.waiting)
		waitAll(t, all, second, w)
		if got := r.started(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		first.link.Heal()
	})
}
