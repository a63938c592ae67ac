package tasks

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// opaqueDriver has read the submission of x, which it cannot read, and all that belongs to it.
func opaqueDriver(t *testing.T) (*driver, []Effect) {
	b := newDriver(t)
	b.step(UniqueSeen{Key: "key", Revision: 1, Task: "x"})
	b.step(Opaque{ID: "x", Revision: 2})
	b.step(Saved{ID: "x", Revision: 3})
	b.step(Noted{ID: "x", Revision: 4, Retry: Retry{Attempt: Attempt{50, 1}, Failures: 1}})
	b.step(CancelAsked{ID: "x", Revision: 5})
	b.step(CaughtUp{})
	return b, b.seal(8)
}

func isTidying(e Effect) bool {
	switch e.(type) {
	case Erase, FreeUnique:
		return true
	}
	return false
}

// TestWhatBelongsToATaskOfALaterVersionStays: its note, its checkpoint, its unique key, and the
// request to cancel it, whether they are read before the state is complete or after.
func TestWhatBelongsToATaskOfALaterVersionStays(t *testing.T) {
	b, effects := opaqueDriver(t)
	effects = append(effects, b.step(Members{List: []Member{member(200)}})...)
	effects = append(effects, b.step(Noted{ID: "x", Revision: 9, Retry: Retry{Attempt: Attempt{51, 1}}})...)
	effects = append(effects, b.step(Saved{ID: "x", Revision: 10})...)
	effects = append(effects, b.step(CancelAsked{ID: "x", Revision: 11})...)
	for _, e := range effects {
		if _, push := e.(Assign); push || isTidying(e) {
			t.Errorf("%T %+v", e, e)
		}
	}
}

// TestWhoeverRunsATaskOfALaterVersionGoesOn: it is neither stopped, nor told that nobody wants its
// result.
func TestWhoeverRunsATaskOfALaterVersionGoesOn(t *testing.T) {
	b, _ := opaqueDriver(t)
	b.step(Members{List: []Member{member(5)}})
	effects := b.step(Synced{Session: 5, Held: []Held{{"x", Attempt{51, 1}, 2}, {"gone", Attempt{51, 1}, 1}}})
	stops := findAll[Stop](effects)
	if !b.s.Ready() || len(stops) != 1 || stops[0].ID != "gone" {
		t.Errorf("%+v", effects)
	}
	for _, e := range []Event{
		Done{Session: 5, ID: "x", Attempt: Attempt{51, 1}, Result: Result{Verb: Succeeded}, Ref: 1},
		Progressed{Session: 5, ID: "x", Attempt: Attempt{51, 1}, Ran: 1, Checkpoint: []byte("c"), Ref: 2},
	} {
		if effects := b.step(e); len(effects) > 0 {
			t.Errorf("%T is answered: %+v", e, effects)
		}
	}
}

// TestNothingComesBesideATaskOfALaterVersionThatRunsAlone, as long as a scheduler that can read it
// would take it for what its worker has died of: twice as long as it had run when it was lost
// before (the time within which a loss is known is none here).
func TestNothingComesBesideATaskOfALaterVersionThatRunsAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		note  Retry
		holds bool
		again bool // it is submitted once more
		early []string
	}{
		"refused":            {note: Retry{Session: 50, Alone: true}},
		"held":               {note: Retry{Session: 50, Alone: true}, holds: true},
		"not alone":          {note: Retry{Session: 50}, early: []string{"new@w50"}},
		"submitted again":    {note: Retry{Session: 50, Alone: true}, again: true, early: []string{"new@w50"}},
		"on another worker":  {note: Retry{Session: 49, Alone: true}, early: []string{"new@w50"}},
		"nobody knows where": {note: Retry{Alone: true}, early: []string{"new@w50"}},
	} {
		b := newDriver(t)
		b.revision = 20
		b.step(Opaque{ID: "x", Revision: 2})
		b.step(Submitted{ID: "new", Revision: 3, Policy: policy})
		n := tt.note
		n.Attempt, n.Started, n.Ran = Attempt{90, 1}, Attempt{91, 1}, time.Minute
		b.step(Noted{ID: "x", Revision: 4, Retry: n})
		if tt.again {
			b.step(Opaque{ID: "x", Revision: 5})
		}
		b.step(CaughtUp{})
		effects := append(b.seal(19), b.step(Members{List: []Member{idle(50, 8)}})...)
		held := Synced{Session: 50}
		if tt.holds {
			held.Held = []Held{{"x", Attempt{91, 1}, 2}}
		}
		effects = append(effects, b.step(held)...)
		if !b.s.Ready() {
			t.Fatal("not ready")
		}
		expect(t, name, handedOut(append(effects, b.pass(time.Millisecond)...)), tt.early...)
		if len(tt.early) == 0 {
			if g, _ := b.s.TaskInfo(b.now, "new"); g.Reason != ReasonReserved {
				t.Errorf("%s: it waits for %q", name, g.Reason)
			}
			expect(t, name+", before", handedOut(b.pass(2*time.Minute-time.Second)))
			expect(t, name+", after", handedOut(b.pass(2*time.Second)), "new@w50")
		}
	}
}

// TestATaskOfALaterVersionEnds by somebody who could read it: then what it has left is tidied as
// ever.
func TestATaskOfALaterVersionEnds(t *testing.T) {
	b, _ := opaqueDriver(t)
	what := map[Record]bool{}
	for _, e := range findAll[Erase](b.step(Settled{ID: "x", Revision: 12})) {
		what[e.What] = true
	}
	if !what[NoteRecord] || !what[CheckpointRecord] || !what[CancelRecord] {
		t.Errorf("%v", what)
	}
	if effects := b.step(Noted{
		ID: "x", Revision: 13,
		Retry: Retry{Attempt: Attempt{51, 1}},
	}); len(findAll[Erase](effects)) != 1 {
		t.Errorf("%+v", effects)
	}
}

// TestATaskOfALaterVersionTakesTheBooksPlace: in the place of one that has ended, and the other way
// round.
func TestATaskOfALaterVersionTakesTheBooksPlace(t *testing.T) {
	b := newDriver(t)
	p := b.begin()
	b.step(Noted{ID: "x", Revision: 3, Retry: Retry{Attempt: Attempt{50, 1}, Failures: 1}})
	effects := b.step(Opaque{ID: "x", Revision: 20})
	if s, ok := find[Stop](effects); !ok || s.Attempt != p.List[0].Attempt {
		t.Errorf("the former life continues: %+v", effects)
	}
	for _, e := range effects {
		if isTidying(e) {
			t.Errorf("%T %+v", e, e)
		}
	}
	b.step(Submitted{ID: "x", Revision: 19, Policy: policy}) // read late
	if _, known := b.s.TaskInfo(b.now, "x"); known {
		t.Error("a former submission is in the state")
	}
	again, ok := find[Assign](b.step(Submitted{ID: "x", Revision: 30, Policy: policy}))
	if !ok || again.List[0].Revision != 30 {
		t.Fatalf("%+v", again)
	}
	w, _ := find[WriteOutcome](b.step(Done{
		Session: 5, ID: "x", Attempt: again.List[0].Attempt,
		Result: Result{Verb: Succeeded},
	}))
	if e, ok := find[Erase](b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 31})); len(b.s.opaque) > 0 ||
		ok && e.What != NoteRecord {
		t.Errorf("%+v, %v", e, b.s.opaque)
	}
}
