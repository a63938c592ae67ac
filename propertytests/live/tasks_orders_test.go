//go:build realtime

package live_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// beat is the recurrence of the tests with processes that run tasks: each tick is to come, once.
const (
	beat     = "beat"
	beatStep = time.Second
)

func recur(a *tasks.Arena) {
	a.TB.Helper()
	err := assign.Recur(a.TB.Context(), a.Operator, tasks.Plain, beat, fmt.Sprint("@every ", beatStep),
		tasks.Order{Run: 50 * time.Millisecond},
		assign.CatchUp(assign.CatchUpAll))
	if err != nil {
		a.TB.Fatal(err)
	}
}

// orderOf is what the i-th task does: some fail once, some leave checkpoints on a longer way.
func orderOf(i int) tasks.Order {
	o := tasks.Order{Run: time.Duration(50+i%7*50) * time.Millisecond}
	switch i % 5 {
	case 1:
		o.Fail = 1
	case 2:
		o.Steps, o.Run = 4, 2*o.Run
	}
	return o
}

// isCancelled reports whether somebody wants the i-th task cancelled.
func isCancelled(i int) bool { return i%15 == 14 }

// numberOf is i of the i-th task; false for any other.
func numberOf(id string) (i int, of bool) {
	text, of := strings.CutPrefix(id, "t")
	_, err := fmt.Sscan(text, &i)
	return i, of && err == nil
}

// longWays are tasks that are always under way, each followed by its next: far longer than a lease,
// so that a handler that continued without its session would be seen to, and with checkpoints all
// along, for the next attempt to begin with.
const (
	longWays = 6
	longRun  = 8 * taskChildTTL
	longStep = 200 * time.Millisecond
	longName = "long"
)

// longWay has one task after the other done until ctx ends, and cancels the last one.
func longWay(ctx context.Context, a *tasks.Arena, which int) error {
	later, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*patience)
	defer cancel()
	order := tasks.Order{Run: longRun, Steps: int(longRun / longStep)}
	for n := 0; ; n++ {
		id := fmt.Sprint(longName, which, "-", n)
		p, err := assign.Submit(later, a.Client, tasks.Plain, order, assign.WithID(id))
		if err != nil {
			return fmt.Errorf("submit %s: %w", id, err)
		}
		a.RecordLog.Acked(id)
		output, err := p.Wait(ctx)
		switch {
		case err == nil:
			a.RecordLog.Promises(id, output)
			continue
		case ctx.Err() == nil:
			return fmt.Errorf("wait for %s: %w", id, err)
		}
		if err := p.Cancel(later); err != nil && !errors.Is(err, assign.ErrTaskEnded) {
			return fmt.Errorf("cancel %s: %w", id, err)
		}
		return nil
	}
}

// longWays begins them; end ends them.
func (c *taskChildren) longWays(a *tasks.Arena) (end func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	var all errgroup.Group
	for i := range longWays {
		all.Go(func() error { return longWay(ctx, a, i) })
	}
	return func() {
		c.t.Helper()
		cancel()
		if err := all.Wait(); err != nil {
			c.t.Error(err)
		}
	}
}

// mayBeCancelled reports whether somebody wants a task cancelled: whether it has ended before,
// nobody knows.
func mayBeCancelled(id string) bool {
	i, of := numberOf(id)
	return of && isCancelled(i) || strings.HasPrefix(id, longName)
}

// oneOutcome submits the i-th task, waits for its end, or cancels it, and notes what it is told of
// it.
func oneOutcome(a *tasks.Arena, i int, acknowledged chan<- struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	id, order := fmt.Sprint("t", i), orderOf(i)
	p, err := assign.Submit(ctx, a.Client, tasks.Plain, order, assign.WithID(id))
	acknowledged <- struct{}{}
	if err != nil {
		return fmt.Errorf("submit %s: %w", id, err)
	}
	a.RecordLog.Acked(id)
	if isCancelled(i) {
		time.Sleep(order.Run / 2)
		switch err := p.Cancel(ctx); {
		case err == nil:
			a.RecordLog.Promises(id, "cancelled")
			return nil
		case !errors.Is(err, assign.ErrTaskEnded):
			return fmt.Errorf("cancel %s: %w", id, err)
		}
	}
	output, err := p.Wait(ctx)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", id, err)
	}
	a.RecordLog.Promises(id, output)
	return nil
}
