package assign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestDeleteOfAnOutcomeThatIsWaitedFor: it is left alone as long as a task that waits for it is
// open, and no longer, though nobody led when the wait was over.
func TestDeleteOfAnOutcomeThatIsWaitedFor(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var j journal
		a := newNode(t, s, "a", j.handle(t))
		leader(t, a)
		c, ctx := New(t, s), t.Context()
		for _, id := range []string{"first", "second", "other"} {
			if _, err := submitStep(t, c, id, "").Wait(ctx); err != nil {
				t.Fatal(err)
			}
		}
		// The one has read what it waits for, and the other one waits for its time.
		runs := submitStep(t, c, "runs", "", assign.After("first", "second"))
		waits := submitStep(t, c, "waits", "", assign.After("first"), assign.WithDelay(time.Hour))
		time.Sleep(500 * time.Millisecond) // the scheduler has read them
		for _, id := range []string{"first", "second"} {
			says(t, assign.Delete(ctx, c, id), assign.ErrTaskNeeded, "wait until that task has ended, or cancel it")
		}
		ended := assign.BulkOptions{ListOptions: assign.ListOptions{States: []assign.State{assign.StateSucceeded}}}
		for _, dry := range []bool{true, false} {
			ended.DryRun = dry
			r, err := assign.DeleteAll(ctx, c, ended)
			if err != nil || r.Done != 1 || r.Needed != 2 || r.Skipped+r.Failed != 0 {
				t.Errorf("dry %t: %+v, %v", dry, r, err)
			}
		}
		if out, err := runs.Wait(ctx); err != nil || out != "output of runs" {
			t.Errorf("%q, %v", out, err)
		}
		deletable := func(id string) {
			t.Helper()
			natstest.Eventually(t, "nobody waits for "+id, time.Minute, func() (bool, string) {
				err := assign.Delete(ctx, c, id)
				return err == nil, fmt.Sprint(err)
			})
			if _, err := assign.Get(ctx, c, id); !errors.Is(err, assign.ErrTaskNotFound) {
				t.Errorf("%s: %v", id, err)
			}
		}
		deletable("second")

		a.close(t)
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := waits.Cancel(soon); !errors.Is(err, assign.ErrCancelPending) {
			t.Errorf("nobody leads: %v", err)
		}
		says(t, assign.Delete(ctx, c, "first"), assign.ErrTaskNeeded, "")
		leader(t, newNode(t, s, "b", j.handle(t)))
		deletable("first")
	})
}
