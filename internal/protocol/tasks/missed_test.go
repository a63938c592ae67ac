package tasks

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// missing shows seals of which each says that something was missed since the one before the first,
// and returns what follows the last.
func (b *driver) missing(from uint64, n int) []Effect {
	b.t.Helper()
	var effects []Effect
	for i := range n {
		effects = b.step(SealSeen{Revision: from + uint64(i), Epoch: 100, Ours: true, Missed: from})
		if _, ok := find[WriteSeal](effects); !ok && i < n-1 {
			b.t.Fatalf("seal %d is the last: %+v", i, effects)
		}
	}
	return effects
}

// TestAnotherSealFollowsAReadingThatMayHaveMissedSomething: and when the next one has missed
// nothing since the first, that is enough.
func TestAnotherSealFollowsAReadingThatMayHaveMissedSomething(t *testing.T) {
	b := newDriver(t)
	b.step(Members{List: []Member{member(200)}})
	b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
	b.step(CaughtUp{})
	if p, early := find[Assign](b.missing(9, 3)); early {
		t.Fatalf("%+v", p)
	}
	p, ok := find[Assign](b.step(SealSeen{Revision: 12, Epoch: 100, Ours: true, Missed: 10}))
	if !ok || len(p.List) != 1 {
		t.Errorf("%+v", p)
	}
}

// TestWhatNobodyCanTellIsWrittenOverItsSubmissionOnly: a reading that never comes to know whether
// it has missed something must not hold up all tasks. A task that came meanwhile cannot have ended.
func TestWhatNobodyCanTellIsWrittenOverItsSubmissionOnly(t *testing.T) {
	b := newDriver(t)
	b.step(Members{List: []Member{idle(200, 2)}})
	b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
	b.step(CaughtUp{})
	p, ok := find[Assign](b.missing(9, mostSeals+2))
	if !ok || len(p.List) != 1 {
		t.Fatalf("%+v", p)
	}
	b.accept([]Effect{p})
	b.revision = 2 * mostSeals
	b.submit("later", Policy{}, nil)
	q, _ := find[Assign](b.pass(0))
	b.accept([]Effect{q})
	for _, a := range append(p.List, q.List...) {
		w, ok := find[WriteOutcome](b.step(Done{Session: 200, ID: a.ID, Attempt: a.Attempt, Result: Result{Verb: Succeeded}}))
		if !ok || w.Again != (a.ID == "x") || w.Revision != a.Revision {
			t.Errorf("%s: %+v", a.ID, w)
		}
	}
}

// TestOurOwnOutcomeThatWasMissedIsNotWrittenOverALaterSubmission: its acknowledgement was lost, and
// a client has written it again, and then another submission over it, each time before the reading
// came to it.
func TestOurOwnOutcomeThatWasMissedIsNotWrittenOverALaterSubmission(t *testing.T) {
	for name, known := range map[string]bool{"in the end the reading shows it": true, "nobody can tell": false} {
		b := newDriver(t)
		a := b.begin().List[0]
		w, _ := find[WriteOutcome](b.step(Done{Session: 5, ID: "x", Attempt: a.Attempt, Result: Result{Verb: Permanent}}))
		b.step(Written{Write: w.Write, Outcome: record.Unknown})
		if !known {
			if again, ok := find[WriteOutcome](b.missing(9, mostSeals+2)); !ok || !again.Again || again.Revision != 1 {
				t.Errorf("%s: %+v", name, again)
			}
			continue
		}
		if again, early := find[WriteOutcome](b.missing(9, 2)); early {
			t.Errorf("%s: %+v", name, again)
		}
		b.step(Submitted{ID: "x", Revision: 11, Policy: policy})
		if again, ok := find[WriteOutcome](b.step(SealSeen{Revision: 12, Epoch: 100, Ours: true, Missed: 10})); ok {
			t.Errorf("%s: %+v", name, again)
		}
	}
}
