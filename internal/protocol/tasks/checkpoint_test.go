package tasks

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// progress reports a checkpoint of the first attempt of x at session 200.
func progress(ran int64, data string, ref any) Progressed {
	return Progressed{
		Session: 200, ID: "x", Attempt: Attempt{100, 1}, Ran: ran, Fraction: float32(ran) / 10, Checkpoint: []byte(data),
		Ref: ref,
	}
}

// runningX is a scheduler that has given x to session 200.
func runningX(t *testing.T) *driver {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submit("x", Policy{}, nil)
	b.accept(b.pass(0))
	return b
}

func TestProgressIsAnsweredAtOnce(t *testing.T) {
	b := runningX(t)
	effects := b.step(Progressed{Session: 200, ID: "x", Attempt: Attempt{100, 1}, Ran: 5, Fraction: 0.5, Ref: 1})
	if s, ok := find[Settle](effects); !ok || s.Stale {
		t.Errorf("%+v", effects)
	}
	b.step(Progressed{Session: 200, ID: "x", Attempt: Attempt{100, 1}, Ran: 4, Fraction: 0.4, Ref: 2})
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Progress != 0.5 {
		t.Errorf("a late copy counts: %v", g.Progress)
	}
	effects = b.step(Progressed{Session: 200, ID: "x", Attempt: Attempt{99, 1}, Ran: 9, Fraction: 0.9, Ref: 3})
	if s, ok := find[Settle](effects); !ok || !s.Stale {
		t.Errorf("of another attempt: %+v", effects)
	}
}

func TestCheckpointIsAcknowledgedWhenItIsStored(t *testing.T) {
	b := runningX(t)
	effects := b.step(progress(1, "one", "a"))
	w, ok := find[WriteCheckpoint](effects)
	if _, early := find[Settle](effects); !ok || early || string(w.Data) != "one" || w.Guard != 2 {
		t.Fatalf("%+v", effects)
	}
	if again := b.step(progress(1, "one", "b")); len(again) != 0 { // the report was sent again
		t.Errorf("%+v", again)
	}
	settled := findAll[Settle](b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 77}))
	if len(settled) != 2 || settled[0].Stale || settled[1].Stale {
		t.Errorf("%+v", settled)
	}
	if late := b.step(progress(1, "one", "c")); len(late) != 1 { // and once more, late: what is stored stays
		t.Errorf("%+v", late)
	}
	b.step(Saved{ID: "x", Revision: 77})
	// The attempt fails: the next one gets it.
	effects = b.step(Done{Session: 200, ID: "x", Attempt: Attempt{100, 1}, Result: Result{Verb: Failed}})
	b.storeAll(effects)
	p, ok := find[Assign](b.pass(time.Minute))
	if !ok || p.List[0].Checkpoint != 77 {
		t.Fatalf("%+v", p)
	}
	effects = b.storeAll(b.step(Done{Session: 200, ID: "x", Attempt: p.List[0].Attempt, Result: Result{Verb: Succeeded}}))
	erased := findAll[Erase](effects)
	if len(erased) != 2 || erased[0].What != NoteRecord || erased[1].What != CheckpointRecord {
		t.Errorf("%+v", effects)
	}
}

// TestALateCopyDoesNotOverwrite: a report of an earlier checkpoint that comes after a later one is
// content with that.
func TestALateCopyDoesNotOverwrite(t *testing.T) {
	b := runningX(t)
	first, _ := find[WriteCheckpoint](b.step(progress(1, "one", "a")))
	if effects := b.step(progress(2, "two", "b")); len(effects) != 0 { // it waits for the first
		t.Errorf("%+v", effects)
	}
	if effects := b.step(progress(1, "one", "c")); len(effects) != 0 {
		t.Errorf("%+v", effects)
	}
	effects := b.step(Written{Write: first.Write, Outcome: record.Won, Revision: 78})
	if settled := findAll[Settle](effects); len(settled) != 2 {
		t.Errorf("%+v", effects)
	}
	later, ok := find[WriteCheckpoint](effects)
	if !ok || string(later.Data) != "two" {
		t.Fatalf("%+v", effects)
	}
	if settled := findAll[Settle](b.step(Written{
		Write: later.Write, Outcome: record.Won,
		Revision: 79,
	})); len(settled) != 1 {
		t.Errorf("%+v", settled)
	}
}

// TestNothingRunsAgainBeforeItsCheckpointIsStored, though the note that came after it is.
func TestNothingRunsAgainBeforeItsCheckpointIsStored(t *testing.T) {
	for _, verb := range []Verb{Snoozed, Released} {
		b := runningX(t)
		cp, _ := find[WriteCheckpoint](b.step(progress(1, "one", "a")))
		effects := b.step(Done{Session: 200, ID: "x", Attempt: Attempt{100, 1}, Result: Result{Verb: verb}})
		b.step(Members{List: []Member{idle(201, 1)}})
		b.storeAll(effects)
		if p, early := find[Assign](b.pass(time.Second)); early {
			t.Errorf("%v: %+v", verb, p)
		}
		p, ok := find[Assign](b.step(Written{Write: cp.Write, Outcome: record.Won, Revision: 79}))
		if !ok || p.List[0].Checkpoint != 79 {
			t.Errorf("%v: %+v", verb, p)
		}
	}
}

// TestCheckpointOfAFormerLife: a record from before the submission is not its, and is removed with
// it.
func TestCheckpointOfAFormerLife(t *testing.T) {
	b := newDriver(t)
	b.step(Saved{ID: "x", Revision: 1})
	b.step(Noted{ID: "x", Revision: 2, Retry: Retry{Attempt: Attempt{90, 1}, Failures: 2}})
	b.step(Submitted{ID: "x", Revision: 3, Policy: policy})
	b.step(CaughtUp{})
	if e, ok := find[Erase](b.seal(9)); ok {
		t.Errorf("%+v", e)
	}
	p, ok := find[Assign](b.step(Members{List: []Member{member(200)}}))
	if !ok || p.List[0].Checkpoint != 0 || p.List[0].Try != 1 {
		t.Fatalf("%+v", p)
	}
	b.revision = 20
	erased := findAll[Erase](b.storeAll(b.step(Done{
		Session: 200, ID: "x", Attempt: p.List[0].Attempt,
		Result: Result{Verb: Succeeded},
	})))
	if len(erased) != 2 {
		t.Errorf("%+v", erased)
	}
}

// TestProgressBeforeTheBooksAreComplete is applied when they are, before the end of the attempt.
func TestProgressBeforeTheBooksAreComplete(t *testing.T) {
	b := newDriver(t)
	b.read()
	b.step(Members{List: []Member{member(5)}})
	a := Attempt{50, 1}
	b.step(Progressed{Session: 5, ID: "x", Attempt: a, Ran: 1, Checkpoint: []byte("one"), Ref: 1})
	b.step(Done{Session: 5, ID: "x", Attempt: a, Result: Result{Verb: Snoozed, Delay: 1}, Ref: 2})
	effects := b.step(Synced{Session: 5, Held: []Held{{"x", a, 1}}})
	if _, ok := find[WriteCheckpoint](effects); !ok {
		t.Errorf("%+v", effects)
	}
	if _, ok := find[WriteNote](effects); !ok {
		t.Errorf("%+v", effects)
	}
}

// TestACheckpointThatIsGoneIsNotHandedOn: a late copy of one that belongs to a task that had this
// id before, and its erasure.
func TestACheckpointThatIsGoneIsNotHandedOn(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	b.submit("x", Policy{}, nil)
	b.step(Saved{ID: "x", Revision: 50})
	b.step(Saved{ID: "x", Revision: 51, Gone: true})
	p, ok := find[Assign](b.step(Members{List: []Member{idle(200, 1)}}))
	if !ok || p.List[0].Checkpoint != 0 {
		t.Errorf("%+v", p)
	}
}
