package tasks

import (
	"testing"
	"time"
)

// TestADeadlineThatTheWorkerNoticesFirst: it is not a failure of an attempt. The task has expired,
// however few attempts it has, and the worker hears that it is over once that is stored.
func TestADeadlineThatTheWorkerNoticesFirst(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submitFor("x", Policy{}, Times{Deadline: time.Minute}, nil)
	b.s.tasks.get("x").policy.MaxAttempts = 1
	b.accept(b.pass(0))
	b.now = b.now.Add(time.Minute - 10*time.Millisecond)
	said := Done{Session: 200, ID: "x", Attempt: Attempt{100, 1}, Result: Result{Verb: Overdue, Body: "a text"}, Ref: 1}
	out := b.step(said)
	w, ok := find[WriteOutcome](out)
	if o := w.Outcome; !ok || o.Status != StatusExpired || o.Cause != CauseDeadline || o.Instance != "w200" ||
		o.Tries != 1 || o.Body != nil {
		t.Fatalf("%+v", out)
	}
	if more := b.pass(time.Second); len(findAll[WriteOutcome](more)) > 0 { // its own deadline has come meanwhile
		t.Errorf("it ends again: %+v", more)
	}
	if s, ok := find[Settle](b.storeAll(out)); !ok || s.Stale || s.Ref != 1 {
		t.Error("its worker is not told that this is over")
	}
	if b.s.tasks.len() != 0 || b.s.expired != 0 || b.s.expiring.Len() != 0 {
		t.Errorf("left: %d tasks, %d that expire", b.s.tasks.len(), b.s.expired)
	}
}

// TestADeadlineThatThereIsNot: a worker that says that it has passed has failed.
func TestADeadlineThatThereIsNot(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submit("x", Policy{}, nil)
	b.accept(b.pass(0))
	out := b.step(Done{
		Session: 200, ID: "x", Attempt: Attempt{100, 1},
		Result: Result{Verb: Overdue, Body: "a text"}, Ref: 1,
	})
	if n, ok := find[WriteNote](out); !ok || n.Retry.Failures != 1 || len(findAll[WriteOutcome](out)) > 0 {
		t.Errorf("%+v", out)
	}
}
