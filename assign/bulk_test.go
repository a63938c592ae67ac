package assign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// hopeless is a kind of which every task is dead after one attempt, unless its input is "well".
var hopeless = assign.NewKind[string, string]("hopeless", assign.MaxAttempts(1))

func hopelessly(t *testing.T) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, hopeless, func(_ context.Context, task *assign.Task[string]) (string, error) {
			if task.Input == "well" {
				return "", nil
			}
			return "", errors.New("hopeless")
		}); err != nil {
			t.Error(err)
		}
	}
}

// tenants submits n tasks whose header tenant is a and b in turn.
func tenants(t *testing.T, c *assign.Client, n int, opts ...assign.SubmitOption) {
	t.Helper()
	for i := range n {
		options := append([]assign.SubmitOption{
			assign.WithHeader("tenant", []string{"a", "b"}[i%2]), assign.WithID(fmt.Sprintf("job-%03d", i)),
		}, opts...)
		if _, err := assign.Submit(t.Context(), c, hopeless, "ill", options...); err != nil {
			t.Fatal(err)
		}
	}
}

func listed(t *testing.T, c *assign.Client, o assign.ListOptions) (n int) {
	t.Helper()
	for {
		page, err := assign.List(t.Context(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		n += len(page.Tasks)
		if o.Cursor = page.Next; o.Cursor == "" {
			return n
		}
	}
}

// TestBulkOfDeadTasks: what is listed by kind, header, prefix and time is counted, requeued once
// and deleted, in pages, and also by an operation that was interrupted.
func TestBulkOfDeadTasks(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const n = 60
		node := newNode(t, s, "a", hopelessly(t))
		c := New(t, s)
		began := time.Now()
		tenants(t, c, n)
		time.Sleep(time.Minute)
		dead := assign.ListOptions{States: []assign.State{assign.StateDead}}
		if is := listed(t, c, dead); is != n {
			t.Fatalf("%d are dead\n%s", is, node.dump())
		}
		ofA := assign.BulkOptions{ListOptions: assign.ListOptions{Headers: map[string]string{"tenant": "a"}, Limit: 7}}
		for _, f := range []struct {
			o    assign.ListOptions
			want int
		}{
			{ofA.ListOptions, n / 2},
			{assign.ListOptions{Headers: map[string]string{"tenant": "c"}}, 0},
			{assign.ListOptions{Prefix: "job-00"}, 10},
			{assign.ListOptions{Since: began.Add(-time.Second), Until: began.Add(time.Minute)}, n},
			{assign.ListOptions{Until: began}, 0},
			{assign.ListOptions{Since: time.Now()}, 0},
			{assign.ListOptions{Kinds: []string{"other"}}, 0},
		} {
			f.o.States = dead.States
			if is := listed(t, c, f.o); is != f.want {
				t.Errorf("%+v lists %d, want %d", f.o, is, f.want)
			}
		}

		dry := ofA
		dry.DryRun = true
		if r, err := assign.RequeueAll(t.Context(), c, dry); err != nil || r.Done != n/2 || r.Kinds["hopeless"] != n/2 ||
			r.Next != "" {
			t.Errorf("dry: %+v, %v", r, err)
		}
		runs := func() int {
			return node.count(func(e event.Event) bool { _, is := e.(event.TaskCompleted); return is })
		}
		before := runs()
		if r, err := assign.RequeueAll(t.Context(), c, ofA); err != nil || r.Done != n/2 || r.Failed+r.Skipped != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		time.Sleep(time.Minute)
		if again := runs() - before; again != n/2 {
			t.Errorf("%d have run again, want %d", again, n/2)
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r, err := assign.DeleteAll(ctx, c, ofA); !errors.Is(err, context.Canceled) || r.Done != 0 {
			t.Errorf("interrupted: %+v, %v", r, err)
		}
		if _, err := assign.DeleteAll(t.Context(), c, assign.BulkOptions{
			ListOptions: assign.ListOptions{States: []assign.State{assign.StateRunning}},
		}); !errors.Is(err, assign.ErrInvalidOption) {
			t.Errorf("open tasks: %v", err)
		}
		wrong := ofA
		wrong.Cursor = "ended.7"
		if _, err := assign.DeleteAll(t.Context(), c, wrong); !errors.Is(err, assign.ErrInvalidCursor) {
			t.Errorf("a cursor of a list: %v", err)
		}
		if r, err := assign.DeleteAll(t.Context(), c, ofA); err != nil || r.Done != n/2 {
			t.Errorf("%+v, %v", r, err)
		}
		if is := listed(t, c, dead); is != n/2 {
			t.Errorf("%d are left", is)
		}
	})
}

// TestBulkContinues: an operation that was interrupted says where it continues, and takes no task
// twice.
func TestBulkContinues(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const n = 40
		newNode(t, s, "a", hopelessly(t))
		c := New(t, s)
		tenants(t, c, n)
		time.Sleep(time.Minute)
		o := assign.BulkOptions{ListOptions: assign.ListOptions{Limit: 5}}
		done, parts := 0, 0
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			r, err := assign.RequeueAll(ctx, c, o)
			cancel()
			done += r.Done
			if parts++; err == nil || parts > 1000 {
				break
			}
			o.Cursor = r.Next
		}
		time.Sleep(time.Minute)
		page, err := assign.List(t.Context(), c, assign.ListOptions{States: []assign.State{assign.StateDead}, Limit: 500})
		if err != nil || len(page.Tasks) != n || done < n-parts*5 {
			t.Errorf("%d of %d in %d parts, %d are dead, %v", done, n, parts, len(page.Tasks), err)
		}
	})
}

// TestBulkCancel: open tasks are cancelled by the same filter.
func TestBulkCancel(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		newNode(t, s, "a", hopelessly(t))
		c := New(t, s)
		tenants(t, c, 20, assign.WithDelay(time.Hour))
		time.Sleep(time.Minute) // the scheduler has read them then
		r, err := assign.CancelAll(t.Context(), c, assign.BulkOptions{
			ListOptions: assign.ListOptions{Headers: map[string]string{"tenant": "b"}},
		})
		if err != nil || r.Done != 10 {
			t.Errorf("%+v, %v", r, err)
		}
		time.Sleep(time.Minute)
		if is := listed(t, c, assign.ListOptions{States: []assign.State{assign.StateCancelled}}); is != 10 {
			t.Errorf("%d are cancelled", is)
		}
		if is := listed(t, c, assign.ListOptions{States: []assign.State{assign.StateDelayed}}); is != 10 {
			t.Errorf("%d are open", is)
		}
	})
}

// TestTimesOfKeptOutcomes: an outcome that was written again for a task that waits for it is listed
// by when its own task ended.
func TestTimesOfKeptOutcomes(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		newNode(t, s, "a", hopelessly(t))
		c := New(t, s)
		tenants(t, c, 2)
		time.Sleep(time.Minute)
		passed := time.Now()
		next, err := assign.Submit(t.Context(), c, hopeless, "well", assign.AfterEnded("job-000", "job-001"),
			assign.WithDelay(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		dead := []assign.State{assign.StateDead}
		if is := listed(t, c, assign.ListOptions{States: dead, Until: passed}); is != 2 {
			t.Errorf("%d tasks ended before, want 2", is)
		}
		if is := listed(t, c, assign.ListOptions{States: dead, Since: passed}); is != 0 {
			t.Errorf("%d dead tasks ended since, want 0", is)
		}
		sum, err := assign.RequeueAll(t.Context(), c, assign.BulkOptions{
			ListOptions: assign.ListOptions{States: dead, Until: passed}, DryRun: true,
		})
		if err != nil || sum.Done != 2 {
			t.Errorf("to be requeued: %+v, %v", sum, err)
		}
	})
}
