package assigntest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestStart(t *testing.T) {
	ns := assigntest.Start(t, func(a *assign.Assigner) {
		if err := assign.Handle(a, greeting, greet); err != nil {
			t.Fatal(err)
		}
	})
	for in, want := range map[string]error{"you": nil, "": assign.ErrTaskDead} {
		p, err := assign.Submit(t.Context(), ns, greeting, in, assign.WithHeader("salutation", "hello"))
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Wait(t.Context())
		if !errors.Is(err, want) || err == nil && out != "hello you" {
			t.Errorf("%q: %q, %v", in, out, err)
		}
	}
	orphan := assign.NewKind[string, string]("orphan", assign.FairBy(func(in string) string { return in }))
	if _, err := assign.Submit(t.Context(), ns, orphan, "a-tenant"); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the overview says whose task waits, and why", time.Minute, func() (bool, string) {
		o, err := assign.GetOverview(t.Context(), ns)
		return err == nil && len(o.Kinds) == 1 && fmt.Sprint(o.Kinds[0].Tenants) == "[{a-tenant 1}]" &&
			o.Kinds[0].Oldest != nil && o.Kinds[0].Oldest.Reason == assign.ReasonNoWorker, fmt.Sprintf("%+v %v", o, err)
	})
}

// TestWorkers: the scheduler does not work, the workers do, and what one gives back another one
// runs.
func TestWorkers(t *testing.T) {
	started := make(chan string, 8)
	release := make(chan struct{})
	ns := assigntest.Start(t, func(a *assign.Assigner) {
		if err := assign.Handle(a, greeting, func(ctx context.Context, task *assign.Task[string]) (string, error) {
			started <- task.Fence().Holder
			select {
			case <-release:
				return task.Fence().Holder, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}); err != nil {
			t.Error(err)
		}
	}, assigntest.Workers(2), assigntest.Configure(func(c *assign.Config) {
		c.SchedulerWorks, c.Slots, c.DrainTimeout = new(false), 1, 10*time.Millisecond
		c.Namespace = "no" // Start's own all the same
	}))
	var all []*assign.Pending[string]
	for i := range 2 {
		p, err := assign.Submit(t.Context(), ns, greeting, fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	first, second := <-started, <-started
	if first == second || ns.Assigner.Namespace() != "test" {
		t.Errorf("both run at %s, namespace %q", first, ns.Assigner.Namespace())
	}
	stopped, left := ns.Workers[0], ns.Workers[1]
	ns.Stop(stopped)
	close(release)
	for _, p := range all {
		if by, err := p.Wait(t.Context()); by != left.Instance || err != nil {
			t.Errorf("%s by %q, %v; want by %s", p.ID(), by, err, left.Instance)
		}
		if st, err := p.Status(t.Context()); err != nil || st.Attempts != 1 {
			t.Errorf("%+v, %v: what was given back must not count", st, err)
		}
	}
}

// A test with a server, two workers and a slot for each.
func ExampleStart() {
	var t *testing.T // the test's own

	ns := assigntest.Start(t, func(a *assign.Assigner) {
		if err := assign.Handle(a, greeting, greet); err != nil {
			t.Fatal(err)
		}
	}, assigntest.Workers(2), assigntest.Configure(func(c *assign.Config) { c.Slots = 1 }))
	p, err := assign.Submit(t.Context(), ns, greeting, "world", assign.WithHeader("salutation", "hello"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Wait(t.Context()); out != "hello world" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}
