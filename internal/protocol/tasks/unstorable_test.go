package tasks

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAnOutcomeThatCannotBeStoredIsReplaced: the task ends all the same, once, and the worker that
// reported it is answered then.
func TestAnOutcomeThatCannotBeStoredIsReplaced(t *testing.T) {
	for _, verb := range []Verb{Succeeded, Permanent} {
		b := runningX(t)
		first, _ := find[WriteOutcome](b.step(Done{
			Session: 200, ID: "x", Attempt: Attempt{100, 1}, Result: Result{Verb: verb, Ran: 7, Body: "large"}, Ref: "r",
		}))
		effects := b.step(Unstorable{Write: first.Write, Body: "why"})
		w, ok := find[WriteOutcome](effects)
		if _, early := find[Settle](effects); !ok || early || w.Write == first.Write || w.Guard != first.Guard {
			t.Fatalf("%v: %+v", verb, effects)
		}
		o := w.Outcome
		if o.Status != StatusDead || o.Cause != CauseUnstorable || o.Body != "why" || o.Attempt != (Attempt{100, 1}) ||
			o.Tries != 1 || o.Ran != 7 {
			t.Errorf("%v: %+v", verb, o)
		}
		if late := b.step(Unstorable{Write: first.Write, Body: "late"}); len(late) != 0 {
			t.Errorf("%v: the write before it counts: %+v", verb, late)
		}
		effects = b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 50})
		settled, ok := find[Settle](effects)
		if done, ended := find[Completed](effects); !ok || settled.Stale || !ended || done.Outcome.Status != StatusDead {
			t.Errorf("%v: %+v", verb, effects)
		}
		if p, again := find[Assign](b.pass(time.Hour)); again {
			t.Errorf("%v: it runs again: %+v", verb, p)
		}
	}
}

// TestWhatCannotBeStoredAtAllIsWrittenWithTheNextSealOnly: no loop, and the task stays as it is.
func TestWhatCannotBeStoredAtAllIsWrittenWithTheNextSealOnly(t *testing.T) {
	b := runningX(t)
	w, _ := find[WriteOutcome](b.step(Done{
		Session: 200, ID: "x", Attempt: Attempt{100, 1},
		Result: Result{Verb: Succeeded}, Ref: "r",
	}))
	w, _ = find[WriteOutcome](b.step(Unstorable{Write: w.Write}))
	if effects := b.step(Unstorable{Write: w.Write}); len(effects) != 0 {
		t.Fatalf("%+v", effects)
	}
	for range 100 {
		if effects := b.pass(time.Minute); len(effects) != 0 {
			t.Fatalf("it does not wait for a seal: %+v", effects)
		}
	}
	seal, ok := find[WriteSeal](b.step(Reconnected{}))
	if !ok {
		t.Fatal("no seal")
	}
	b.step(Written{Write: seal.Write, Outcome: record.Won, Revision: 60})
	effects := b.step(SealSeen{Revision: 60, Epoch: 100, Ours: true})
	if again, second := find[WriteSeal](effects); second { // an outcome was under way
		b.step(Written{Write: again.Write, Outcome: record.Won, Revision: 61})
		effects = b.step(SealSeen{Revision: 61, Epoch: 100, Ours: true})
	}
	if w, ok = find[WriteOutcome](effects); !ok || w.Outcome.Cause != CauseUnstorable {
		t.Fatalf("%+v", effects)
	}
	if _, ok := find[Completed](b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 62})); !ok {
		t.Error("it has not ended")
	}
}

// TestACancellationIsNeverCalledAFailure: nothing of it can be left out.
func TestACancellationIsNeverCalledAFailure(t *testing.T) {
	b := runningX(t)
	w, ok := find[WriteOutcome](b.step(CancelAsked{ID: "x", Revision: 40}))
	if !ok || w.Outcome.Status != StatusCancelled {
		t.Fatalf("%+v", w)
	}
	if effects := b.step(Unstorable{Write: w.Write}); len(effects) != 0 {
		t.Errorf("%+v", effects)
	}
	if _, ok := find[Completed](b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 62})); !ok {
		t.Error("it has not ended")
	}
}

// TestACheckpointThatCannotBeStoredIsGivenUp: the worker that reported it is told, the ones before
// it count, and the task continues.
func TestACheckpointThatCannotBeStoredIsGivenUp(t *testing.T) {
	b := runningX(t)
	one, _ := find[WriteCheckpoint](b.step(progress(1, "one", "a")))
	b.step(Written{Write: one.Write, Outcome: record.Won, Revision: 77})
	two, _ := find[WriteCheckpoint](b.step(progress(2, "two is too large", "b")))
	b.step(progress(3, "three", "c")) // comes meanwhile
	effects := b.step(Unstorable{Write: two.Write})
	if s := findAll[Settle](effects); len(s) != 1 || !s[0].Stale || s[0].Ref != "b" {
		t.Errorf("%+v", effects)
	}
	three, ok := find[WriteCheckpoint](effects)
	if !ok || string(three.Data) != "three" {
		t.Fatalf("%+v", effects)
	}
	// The attempt gives the task back before this one is known to be stored; it is none either.
	effects = b.step(Done{Session: 200, ID: "x", Attempt: Attempt{100, 1}, Result: Result{Verb: Failed}})
	b.storeAll(effects)
	if p, early := find[Assign](b.pass(time.Minute)); early {
		t.Fatalf("%+v", p)
	}
	effects = b.step(Unstorable{Write: three.Write})
	if s := findAll[Settle](effects); len(s) != 1 || !s[0].Stale || s[0].Ref != "c" {
		t.Errorf("%+v", effects)
	}
	p, ok := find[Assign](b.pass(time.Minute))
	if !ok || p.List[0].Checkpoint != 77 {
		t.Errorf("the next attempt gets %+v", p)
	}
}

// TestACheckpointThatWasGivenUpIsNotAcknowledgedLater: the answer that it was given up may be lost,
// and then it is told again.
func TestACheckpointThatWasGivenUpIsNotAcknowledgedLater(t *testing.T) {
	b := runningX(t)
	w, _ := find[WriteCheckpoint](b.step(progress(1, "too large", "a")))
	b.step(Unstorable{Write: w.Write})
	effects := b.step(progress(1, "too large", "a again"))
	if s, answered := find[Settle](effects); answered {
		t.Errorf("%+v, and nothing is stored", s)
	}
	w, ok := find[WriteCheckpoint](effects)
	if !ok {
		t.Fatalf("%+v", effects)
	}
	if s := findAll[Settle](b.step(Unstorable{Write: w.Write})); len(s) != 1 || !s[0].Stale || s[0].Ref != "a again" {
		t.Errorf("%+v", s)
	}
}
