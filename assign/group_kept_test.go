package assign_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestNameOfAGroupWhoseDeadMembersAreKept: the error names the member, until when, and what helps.
func TestNameOfAGroupWhoseDeadMembersAreKept(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var completions atomic.Int32
		n := newNode(t, s, "a", groupWork(t, &completions))
		leader(t, n)
		c, ctx := New(t, s), t.Context()
		submit := func() (*assign.Group[assign.GroupStatus], error) {
			return assign.SubmitGroup(ctx, c, "g", part, inputs(5), done)
		}
		g, err := submit()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		dead, err := assign.Get(ctx, c, assign.GroupRef{Group: "g"}.MemberID(4))
		if err != nil {
			t.Fatal(err)
		}
		n.close(t)                 // nobody beats meanwhile
		time.Sleep(25 * time.Hour) // the completion and the members that have succeeded leave
		_, err = submit()
		says(t, err, assign.ErrGroupKept, "use another name")
		until := dead.KeptUntil.UTC().Format(time.RFC3339)
		if err == nil || !strings.Contains(err.Error(), "group/g/4 ") || !strings.Contains(err.Error(), until) {
			t.Errorf("%v does not name the task and %s", err, until)
		}
		if st, err := assign.Get(ctx, c, g.ID()); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("a group is stored that cannot be complete: %+v, %v", st, err)
		}
		time.Sleep(2 * time.Hour) // the dead members have left, too
		leader(t, newNode(t, s, "b", groupWork(t, &completions)))
		again, err := submit()
		if err != nil {
			t.Fatal(err)
		}
		out, err := again.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		checkGroup(t, out, 5)
	})
}

// TestCompletionIsKeptForADay: also one that has died, whatever its kind says, and for as long as
// members that have not died.
func TestCompletionIsKeptForADay(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		brief := assign.NewKind[assign.GroupRef, string]("brief", assign.MaxAttempts(1), assign.Retention(time.Minute),
			assign.DeadRetention(2*time.Minute))
		leader(t, newNode(t, s, "a", func(a *assign.Assigner) {
			groupWork(t, new(atomic.Int32))(a)
			if err := assign.Handle(a, brief, func(_ context.Context, task *assign.Task[assign.GroupRef]) (string, error) {
				if task.Input.Group == "well" {
					return "", nil
				}
				return "", errors.New("it fails")
			}); err != nil {
				t.Error(err)
			}
		}))
		c, ctx := New(t, s), t.Context()
		for _, g := range []struct {
			name          string
			members, want time.Duration
		}{
			{"well", time.Hour, 24 * time.Hour},
			{"dead", time.Hour, 24 * time.Hour},
			{"long", 48 * time.Hour, 48 * time.Hour},
		} {
			group, err := assign.SubmitGroup(ctx, c, g.name, part, inputs(2), brief, assign.With(assign.Retention(g.members)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := group.Wait(ctx); (err == nil) != (g.name == "well") {
				t.Error(err)
			}
			st, err := assign.Get(ctx, c, group.ID())
			if kept := st.KeptUntil.Sub(st.Ended); err != nil || kept != g.want {
				t.Errorf("%s: the completion is %s and kept for %s, want %s: %v", g.name, st.State, kept, g.want, err)
			}
		}
	})
}
