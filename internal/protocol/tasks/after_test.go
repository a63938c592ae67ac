package tasks

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// submitAfter stores a task that waits for others.
func (b *driver) submitAfter(id string, a *groups.After) []Effect {
	b.revision++
	return b.step(Submitted{ID: id, Revision: b.revision, Policy: policy, After: a})
}

// stays shows the outcome of a task, which stays.
func (b *driver) stays(id string, status Status) []Effect {
	b.revision++
	return b.step(Settled{ID: id, Revision: b.revision, Status: status, Kept: true})
}

// TestATaskRunsAfterOthers: it waits, says why, and runs once the outcome stands that it waits for,
// which stays until it has ended itself.
func TestATaskRunsAfterOthers(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 4))
	b.submit("up", Policy{}, nil)
	effects := b.pass(0)
	more := b.submitAfter("x", &groups.After{IDs: []string{"up"}})
	expect(t, "only one runs", handedOut(append(effects, more...)), "up@w200")
	if g, _ := b.s.TaskInfo(b.now, "x"); g.State != StatePending || g.Reason != ReasonAfter {
		t.Errorf("%+v", g)
	}
	if o := b.s.Overview(); o.Kinds[0].Delayed != 1 {
		t.Errorf("%+v", o.Kinds)
	}
	ended := b.accept(effects, "up")
	w, ok := find[WriteOutcome](ended)
	if !ok || !w.Kept {
		t.Fatalf("it does not stay: %+v", ended)
	}
	expect(t, "it is not known to be stored", handedOut(b.pass(0)))
	effects = b.stays("up", StatusSucceeded)
	expect(t, "it is stored", handedOut(effects), "x@w200")
	if _, ok := find[ReleaseOutcome](effects); ok {
		t.Errorf("it is released though x is open: %+v", effects)
	}
	ended = b.accept(effects, "x")
	if w, ok := find[WriteOutcome](ended); !ok || w.Kept {
		t.Errorf("nobody waits for x: %+v", ended)
	}
	if r, ok := find[ReleaseOutcome](b.storeAll(ended)); !ok || r.ID != "up" {
		t.Errorf("%+v is released, want up", r)
	}
}

// TestATaskIsSkipped: for one that has failed, and for one that there is not.
func TestATaskIsSkipped(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 4))
	asked := b.submitAfter("x", &groups.After{IDs: []string{"failed"}})
	if k, ok := find[KeepOutcome](asked); !ok || k.ID != "failed" || k.After != b.revision {
		t.Fatalf("%+v", asked)
	}
	b.submitAfter("y", &groups.After{IDs: []string{"nobody"}, Ended: true})
	b.submitAfter("z", &groups.After{IDs: []string{"failed"}, Ended: true})
	effects := append(b.step(Kept{"failed", StatusDead}), b.step(Absent{"nobody"})...)
	expect(t, "only its end was awaited", handedOut(effects), "z@w200")
	var skipped []string
	for _, w := range findAll[WriteOutcome](effects) {
		if w.Outcome.Status != StatusSkipped || w.Outcome.Cause != CauseUpstream || w.Outcome.Tries != 0 {
			t.Errorf("%+v", w)
		}
		skipped = append(skipped, w.ID)
	}
	expect(t, "skipped", skipped, "x", "y")
}

// TestAnUpstreamThatIsSubmittedAgainIsAwaitedAgain: a task that has not begun waits for what is
// open.
func TestAnUpstreamThatIsSubmittedAgainIsAwaitedAgain(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 4))
	b.submitAfter("x", &groups.After{IDs: []string{"dead", "slow"}, Ended: true})
	b.step(Kept{"dead", StatusDead})
	b.submit("dead", Policy{}, nil)
	expect(t, "one of the two is open again", handedOut(b.step(Kept{"slow", StatusSucceeded})), "dead@w200")
	expect(t, "both have ended", handedOut(b.step(Absent{"other"})))
}

// TestWhatWasHandedOutIsNotHeldBack: a note says that a task has run, whatever became since of the
// tasks that it has waited for.
func TestWhatWasHandedOutIsNotHeldBack(t *testing.T) {
	b := newDriver(t)
	b.revision = 10
	b.step(SealSeen{Revision: 1, Epoch: 90, Clean: true})
	b.step(Submitted{ID: "x", Revision: 2, Policy: policy, After: &groups.After{IDs: []string{"gone"}}})
	b.step(Noted{ID: "x", Revision: 3, Retry: Retry{Attempt: Attempt{90, 1}, Failures: 1}})
	b.step(CaughtUp{})
	b.seal(9)
	expect(t, "it continues", handedOut(b.step(Members{List: []Member{member(200)}})), "x@w200")
	if w, ok := find[WriteOutcome](b.step(Absent{"gone"})); ok {
		t.Errorf("%+v", w)
	}
}

// TestWhatStaysForNobodyIsReleased: an earlier scheduler may have died before it could.
func TestWhatStaysForNobodyIsReleased(t *testing.T) {
	b := newDriver(t)
	b.step(Settled{ID: "a", Revision: 1, Status: StatusSucceeded, Kept: true})
	b.step(Settled{ID: "b", Revision: 2, Status: StatusSucceeded, Kept: true})
	b.step(Submitted{ID: "x", Revision: 3, Policy: policy, After: &groups.After{IDs: []string{"b"}}})
	b.step(CaughtUp{})
	effects := b.seal(9)
	if all := findAll[ReleaseOutcome](effects); len(all) != 1 || all[0].ID != "a" {
		t.Errorf("released: %+v", all)
	}
	if all := findAll[KeepOutcome](effects); len(all) != 0 {
		t.Errorf("it is known to stay, and is asked for: %+v", all)
	}
	// a deposed scheduler has released it
	effects = b.step(Settled{ID: "b", Revision: 10, Status: StatusSucceeded})
	if k, ok := find[KeepOutcome](effects); !ok || k.ID != "b" {
		t.Errorf("%+v", effects)
	}
}

// TestAnEndThatMayLeaveUnshownIsAskedFor: an outcome that was written before anybody named its task
// may leave before the stream shows it.
func TestAnEndThatMayLeaveUnshownIsAskedFor(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 4))
	b.submit("up", Policy{}, nil)
	ended := b.accept(b.pass(0), "up")
	if w, ok := find[WriteOutcome](ended); !ok || w.Kept {
		t.Fatalf("%+v", ended)
	}
	if k, ok := find[KeepOutcome](b.submitAfter("x", &groups.After{IDs: []string{"up"}})); ok {
		t.Fatalf("it is open, and is asked for: %+v", k)
	}
	if k, ok := find[KeepOutcome](b.storeAll(ended)); !ok || k.ID != "up" {
		t.Error("its outcome is not asked for")
	}
}
