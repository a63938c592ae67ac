package tasks

import (
	"testing"
	"time"
)

// TestTold: what a worker says by its member record counts for its answer when it is for this term.
// Nothing then waits for it, what it holds is its own, and it is given nothing before it answers a
// message.
func TestTold(t *testing.T) {
	b := newDriver(t)
	b.read()
	b.step(Submitted{ID: "y", Revision: 3, Policy: policy})
	b.step(Members{List: []Member{member(5), member(6)}})
	b.step(Synced{Session: 6})
	x := Held{"x", Attempt{50, 1}, 1}
	expect(t, "after a word to an earlier leader", handedOut(b.step(Told{Session: 5, Epoch: 99, Held: nil})))
	out := b.step(Told{Session: 5, Epoch: 100, Held: []Held{x}})
	expect(t, "after its word", handedOut(out), "y@w6")
	b.accept(out)
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Instance != "w5" || g.State != StateRunning {
		t.Errorf("what it holds: %+v", g)
	}
	b.step(&Done{Session: 5, ID: "x", Attempt: x.Attempt, Result: Result{Verb: Succeeded}})
	b.step(Submitted{ID: "z", Revision: 4, Policy: policy})
	expect(t, "before it answers", handedOut(b.pass(time.Second)))
	if o := b.s.Overview(); !o.Workers[0].Unreachable || o.Workers[1].Unreachable {
		t.Errorf("overview: %+v", o.Workers)
	}
	expect(t, "once it has answered", handedOut(b.step(Synced{Session: 5})), "z@w5")
}

// TestToldAfterItsAnswer: a word that comes after the answer says nothing new, whether tasks are
// handed out already or not.
func TestToldAfterItsAnswer(t *testing.T) {
	for _, ready := range []bool{false, true} {
		b := newDriver(t)
		b.read()
		list := []Member{member(5), member(6)}
		if ready {
			list = list[:1]
		}
		b.step(Members{List: list})
		b.step(Synced{Session: 5})
		b.step(Told{Session: 5, Epoch: 100})
		if o := b.s.Overview(); b.s.Ready() != ready || o.Workers[0].Unreachable {
			t.Errorf("ready %t: %+v", ready, o.Workers)
		}
	}
}
