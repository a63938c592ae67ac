package dashboard

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestActsAreDone: what a person confirms happens: a role is handed over to the instance that is
// named, a task is cancelled, and the dead tasks of a filter run again once their kind is resumed.
func TestActsAreDone(t *testing.T) {
	t.Parallel()
	var jobs *assign.Client
	s := open(t, natstest.Server(t), func(nc *nats.Conn, o *Options) {
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		jobs, o.Tasks = c, []*assign.Client{c}
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
		o.Steer = func(*http.Request) (string, bool) { return "alice", true }
	})
	act := func(do string, pairs ...string) {
		t.Helper()
		form := url.Values{"do": {do}}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		if status, body := s.post("alice", nil, form); status != http.StatusSeeOther {
			t.Fatalf("%v: %d\n%s", form, status, body)
		}
	}

	s.member("a", "billing")
	s.led("billing", "a")
	s.member("b", "billing")
	s.member("c", "billing")
	var seen roleData
	natstest.Eventually(t, "b and c are in line", patience, func() (bool, string) {
		seen = document[roleData](s, "/role.json?name=billing")
		return len(seen.Line) == 3, fmt.Sprint(seen.Line)
	})
	act("transfer", "role", "billing", "epoch", fmt.Sprint(seen.Epoch), "instance", "c") // b would be next
	s.led("billing", "c")

	work(t, s.nc)
	fail := assign.NewKind[string, string]("fail")
	before := map[string]assign.TaskStatus{}
	for _, id := range []string{"order-1", "order-2", "other-1"} {
		task, err := assign.Submit(t.Context(), jobs, fail, "x", assign.WithID(id))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := task.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
		if before[id], err = assign.Get(t.Context(), jobs, id); err != nil {
			t.Fatal(err)
		}
	}
	becomes := func(id, what string, is func(assign.TaskStatus) bool) {
		t.Helper()
		natstest.Eventually(t, id+" "+what, patience, func() (bool, string) {
			now, err := assign.Get(t.Context(), jobs, id)
			return err == nil && is(now), fmt.Sprintf("%s, %v", now.State, err)
		})
	}
	act("pause-kind", "n", "jobs", "kind", "fail")
	act("requeue-all", "n", "jobs", "kind", "fail", "prefix", "order-")
	for _, id := range []string{"order-1", "order-2"} {
		becomes(id, "waits again", func(now assign.TaskStatus) bool { return now.State == assign.StatePending })
	}
	if now, err := assign.Get(t.Context(), jobs, "other-1"); err != nil || now.State != assign.StateDead {
		t.Errorf("the filter does not select other-1, which is %s, %v", now.State, err)
	}
	act("resume-kind", "n", "jobs", "kind", "fail")
	for _, id := range []string{"order-1", "order-2"} {
		becomes(id, "has run again", func(now assign.TaskStatus) bool {
			return now.State == assign.StateDead && now.Ended.After(before[id].Ended)
		})
	}

	orphan := assign.NewKind[string, string]("orphan")
	task, err := assign.Submit(t.Context(), jobs, orphan, "x", assign.WithID("o-1"))
	if err != nil {
		t.Fatal(err)
	}
	act("cancel", "n", "jobs", "id", "o-1")
	if _, err := task.Wait(t.Context()); !errors.Is(err, assign.ErrTaskCancelled) {
		t.Errorf("the cancelled task ends with %v", err)
	}
}
