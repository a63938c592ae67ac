package permissions_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
)

// asks does everything that a submitter can beside submitting, waiting and cancelling.
func asks(t *testing.T, client *assign.Client) {
	t.Helper()
	input := bytes.Repeat([]byte("0123456789"), 70_000)
	large, err := assign.Submit(within(t, time.Minute), client, double, input, assign.WithUnique("one"),
		assign.WithDelay(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	events, err := large.Events(within(t, time.Minute))
	if err != nil {
		t.Fatalf("follow: %v", err)
	}
	if st, err := large.Status(within(t, time.Minute)); err != nil || st.ID != large.ID() {
		t.Errorf("status: %+v, %v", st, err)
	}
	if out, err := large.Wait(within(t, time.Minute)); len(out) != 2*len(input) || err != nil {
		t.Errorf("a large output: %d bytes, %v", len(out), err)
	}
	told := map[assign.EventType]bool{}
	for e := range events {
		told[e.Type] = true
	}
	if !told[assign.EventEnded] {
		t.Errorf("told of %v", told)
	}

	all, err := assign.Events(within(t, time.Minute), client,
		assign.EventOptions{States: []assign.State{assign.StateDead}})
	if err != nil {
		t.Fatalf("follow all: %v", err)
	}
	dies, err := assign.Submit(within(t, time.Minute), client, double, []byte("dies"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dies.Wait(within(t, time.Minute)); !errors.Is(err, assign.ErrTaskDead) {
		t.Errorf("the outcome of what dies is %v", err)
	}
	if e := <-all; e.Type != assign.EventEnded || e.Task.ID != dies.ID() {
		t.Errorf("of all tasks: %+v", e)
	}
	g, err := assign.SubmitGroup(within(t, time.Minute), client, "g", double, [][]byte{{1}, {2}}, complete)
	if err != nil {
		t.Fatalf("a group: %v", err)
	}
	if out, err := g.Wait(within(t, time.Minute)); out != "g" || err != nil {
		t.Errorf("a group: %q, %v", out, err)
	}
	if st, err := g.Members(within(t, time.Minute)); st.Succeeded != 2 || err != nil {
		t.Errorf("the members of a group: %+v, %v", st, err)
	}
	if page, err := assign.ListGroups(within(t, time.Minute), client, assign.GroupListOptions{}); err != nil ||
		len(page.Groups) != 1 {
		t.Errorf("groups: %+v, %v", page, err)
	}
	if err := assign.Requeue(within(t, time.Minute), client, dies.ID()); err != nil {
		t.Errorf("requeue: %v", err)
	}
	if _, err := assign.List(within(t, time.Minute), client, assign.ListOptions{}); err != nil {
		t.Errorf("list: %v", err)
	}
	if _, err := assign.List(within(t, time.Minute), client,
		assign.ListOptions{States: []assign.State{assign.StateSucceeded}}); err != nil {
		t.Errorf("list what has ended: %v", err)
	}
	if _, err := assign.GetOverview(within(t, time.Minute), client); err != nil {
		t.Errorf("overview: %v", err)
	}
}

// manages steers tasks in every way there is. in is the JetStream domain, "" for none.
func manages(t *testing.T, nc *nats.Conn, in string) {
	t.Helper()
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: namespace, Domain: in})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := within(t, 5*time.Minute)
	note := func(doing string, err error) {
		if err != nil {
			t.Errorf("%s: %v", doing, err)
		}
	}
	note("pause", assign.PauseKind(ctx, c, "paused", "a reason"))
	note("resume", assign.ResumeKind(ctx, c, "paused"))
	note("drain", assign.DrainWorker(ctx, c, "v", "a reason"))
	note("undrain", assign.UndrainWorker(ctx, c, "v"))
	note("declare", assign.Declare(ctx, c, own))
	four := 4
	note("override", assign.OverrideLimits(ctx, c, own.Name(), assign.LimitsOverride{Concurrency: &four}))
	if l, err := assign.GetLimits(ctx, c, own.Name()); err != nil || l.Concurrency == nil || *l.Concurrency != four {
		t.Errorf("limits: %+v, %v", l, err)
	}
	for tries := 0; ; tries++ {
		l, err := assign.GetLimits(ctx, c, double.Name())
		note("the limits that the worker has declared", err)
		if l.Declared != nil {
			break
		}
		if tries > 30 {
			t.Fatal("the worker has declared nothing within a minute")
		}
		time.Sleep(2 * time.Second) // virtual
	}
	note("restore", assign.RestoreLimits(ctx, c, own.Name()))
	note("recur", assign.Recur(ctx, c, own, "often", "@every 1s", []byte("x")))
	for tries := 0; ; tries++ {
		time.Sleep(2 * time.Second) // virtual
		page, err := assign.ListRecurrences(ctx, c, assign.RecurrenceListOptions{})
		note("recurrences", err)
		all := page.Recurrences
		if len(all) == 1 && !all[0].Last.IsZero() {
			break
		}
		if tries > 30 {
			t.Fatalf("a recurrence has submitted nothing within a minute: %+v", all)
		}
	}
	note("unrecur", assign.RemoveRecurrence(ctx, c, "often"))
}
