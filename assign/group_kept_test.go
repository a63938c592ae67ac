package assign_test

import (
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
