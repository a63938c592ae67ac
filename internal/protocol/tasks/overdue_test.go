package tasks

import (
	"testing"
	"time"
)

// TestADeadlineThatTheWorkerNoticesFirst: what it says then is no end of an attempt. The stream's clock decides, a moment later, and
// the task has expired, however few attempts it has.
func TestADeadlineThatTheWorkerNoticesFirst(t *testing.T) {
	b := readyBooks(t, SchedulerConfig{}, idle(200, 1))
	b.submitFor("x", Policy{}, Times{Deadline: time.Minute}, nil)
	b.s.tasks.get("x").policy.MaxAttempts = 1
	b.accept(b.pass(0))
	began := b.now
	b.now = b.now.Add(30 * time.Second)
	said := Done{Session: 200, ID: "x", Attempt: Attempt{100, 1}, Result: Result{Verb: Overdue}, Ref: 1}
	if out := b.step(said); len(out) > 0 {
		t.Errorf("before its time: %+v", out)
	}
	b.now = began
	out := b.pass(time.Minute)
	w, ok := find[WriteOutcome](out)
	if o := w.Outcome; !ok || o.Status != StatusExpired || o.Instance != "w200" || time.Duration(o.Ran) < time.Minute || o.Tries != 1 {
		t.Fatalf("%+v", out)
	}
	if stop, ok := find[Stop](out); !ok || stop.Status != StatusExpired {
		t.Errorf("%+v", out)
	}
	if s, ok := find[Settle](b.step(said)); !ok || !s.Stale {
		t.Error("its worker is not told that this is over")
	}
}
