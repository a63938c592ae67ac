package tasks

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAttemptsNeverRepeatWithinAnEpoch, though a task is submitted under its id again and again.
func TestAttemptsNeverRepeatWithinAnEpoch(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	seen := map[string]bool{}
	for i := range 200 {
		id := fmt.Sprint("t", i%3)
		b.submit(id, Policy{}, nil)
		p, ok := find[Assign](b.pass(0))
		if !ok {
			t.Fatal("not handed out")
		}
		a := p.List[0].Attempt
		if key := fmt.Sprint(id, a); seen[key] {
			t.Fatalf("%s runs attempt %v twice", id, a)
		} else {
			seen[key] = true
		}
		b.storeAll(b.accept([]Effect{p}, id))
	}
}

func TestNumbersOfAttemptsRunOut(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.s.marks[markOf("x")] = math.MaxUint32
	b.submit("x", Policy{}, nil)
	effects := b.pass(0)
	if e, ok := find[Exhausted](effects); !ok || e.Epoch != 100 {
		t.Errorf("%+v", effects)
	}
	if _, ok := find[Assign](effects); ok {
		t.Error("handed out all the same")
	}
}

// TestAClaimOfAFormerLifeIsNotAdopted: its result would be that of another submission.
func TestAClaimOfAFormerLifeIsNotAdopted(t *testing.T) {
	b := newDriver(t)
	b.read() // x, at revision 1
	b.step(Members{List: []Member{member(5)}})
	effects := b.step(Synced{Session: 5, Held: []Held{{"x", Attempt{50, 1}, 99}}})
	if r, _ := find[Ready](effects); r.Adopted != 0 {
		t.Errorf("%+v", effects)
	}
	if s, ok := find[Stop](effects); !ok || s.Attempt != (Attempt{50, 1}) {
		t.Errorf("%+v", effects)
	}
}

// afterCrash is a scheduler after one that has not ended in peace, with one task of that time and a
// worker of its own. TestAPeacefulTermThatWasRotated: what it has begun before has an earlier
// epoch.
func TestAPeacefulTermThatWasRotated(t *testing.T) {
	for epoch, counted := range map[uint64]int{84: 1, 85: 0, 87: 0, 90: 0, 91: 1} {
		b := newDriver(t)
		b.revision = 10
		b.step(SealSeen{Revision: 1, Epoch: 90, Clean: true, Since: 85})
		b.step(Submitted{ID: "x", Revision: 2, Policy: policy})
		b.step(Noted{ID: "x", Revision: 3, Retry: Retry{Attempt: Attempt{80, 4}, Started: Attempt{epoch, 1}}})
		b.step(CaughtUp{})
		b.seal(9)
		if n, ok := find[WriteNote](b.step(Members{List: []Member{member(200)}})); !ok || n.Retry.Crashes != counted {
			t.Errorf("begun in epoch %d: noted %v, %+v", epoch, ok, n.Retry)
		}
	}
}

func afterCrash(t *testing.T, clean bool, notes ...Noted) (*driver, []Effect) {
	b := newDriver(t)
	b.revision = 10
	b.step(SealSeen{Revision: 1, Epoch: 90, Clean: clean})
	b.step(Submitted{ID: "x", Revision: 2, Policy: policy})
	for _, n := range notes {
		b.step(n)
	}
	b.step(CaughtUp{})
	b.seal(9)
	own := member(200)
	own.Own = true
	return b, b.step(Members{List: []Member{own}})
}

func TestASuspectIsNotedBeforeItRunsHere(t *testing.T) {
	b, effects := afterCrash(t, false)
	n, ok := find[WriteNote](effects)
	if _, early := find[Assign](effects); !ok || early || n.Retry.Started != (Attempt{100, 1}) ||
		!n.Retry.Attempt.IsZero() {
		t.Fatalf("%+v", effects)
	}
	effects = b.step(Written{Write: n.Write, Outcome: record.Won, Revision: 11})
	p, ok := find[Assign](effects)
	if !ok || p.List[0].Attempt != n.Retry.Started {
		t.Fatalf("%+v", effects)
	}
	// It is rejected: nobody is to count it.
	effects = b.step(Answered{Session: 200, Frame: p.Frame, Answers: []Answer{{"x", p.List[0].Attempt, Full}}})
	if n, ok := find[WriteNote](effects); !ok || !n.Retry.Started.IsZero() || n.Retry.Crashes != 0 {
		t.Errorf("%+v", effects)
	}
}

func TestNobodyIsSuspectAfterAPeacefulEnd(t *testing.T) {
	_, effects := afterCrash(t, true)
	if _, ok := find[Assign](effects); !ok {
		t.Errorf("%+v", effects)
	}
}

// TestABegunAttemptOfAPeacefulTermIsNotCounted: its scheduler has lived to say so.
func TestABegunAttemptOfAPeacefulTermIsNotCounted(t *testing.T) {
	for epoch, counted := range map[uint64]int{90: 0, 89: 1} { // afterCrash has a scheduler of epoch 90 before
		_, effects := afterCrash(t, true,
			Noted{ID: "x", Revision: 3, Retry: Retry{Attempt: Attempt{80, 4}, Started: Attempt{epoch, 1}}})
		n, ok := find[WriteNote](effects)
		if !ok || n.Retry.Crashes != counted || n.Retry.Attempt != (Attempt{epoch, 1}) || !n.Retry.Started.IsZero() {
			t.Errorf("begun in epoch %d: %+v", epoch, effects)
		}
		if r, told := find[Reassigned](effects); told != (counted > 0) {
			t.Errorf("begun in epoch %d: %+v", epoch, r)
		}
	}
}

// TestSuspicionIsLeftToTheNext: a term that has ended in peace has cleared nobody who is still
// open.
func TestSuspicionIsLeftToTheNext(t *testing.T) {
	b, _ := afterCrash(t, false)
	left := b.s.Doubted()
	if left == 0 {
		t.Fatal("nobody is suspected, though the scheduler before has crashed")
	}
	for suspect, noted := range map[uint64]bool{left: true, 2: false, 0: false} { // x stands at 2
		b := newDriver(t)
		b.step(SealSeen{Revision: 1, Epoch: 90, Clean: true, Doubted: suspect})
		b.step(Submitted{ID: "x", Revision: 2, Policy: policy})
		b.step(CaughtUp{})
		b.seal(9)
		own := member(200)
		own.Own = true
		if _, ok := find[WriteNote](b.step(Members{List: []Member{own}})); ok != noted {
			t.Errorf("suspects below %d: noted before it runs: %v", suspect, ok)
		}
		if n := b.s.Doubted(); n != 0 != noted {
			t.Errorf("suspects below %d: it leaves %d", suspect, n)
		}
		b.step(Settled{ID: "x", Revision: 20})
		if n := b.s.Doubted(); n != 0 {
			t.Errorf("suspects below %d: it leaves %d, and nothing is open", suspect, n)
		}
		b.step(Opaque{ID: "y", Revision: 3})
		if n := b.s.Doubted(); n != 0 != noted {
			t.Errorf("suspects below %d: it leaves %d of what it cannot read", suspect, n)
		}
	}
}

// TestABegunAttemptThatNobodyHasCounts as a lost worker. It ends a task that has lost too many, if
// it was to run alone, and was lost before others could come beside it.
func TestABegunAttemptThatNobodyHasCounts(t *testing.T) {
	note := func(blame int, alone bool, ran time.Duration) Noted {
		return Noted{ID: "x", Revision: 3, Retry: Retry{
			Attempt: Attempt{80, 4}, Crashes: blame, Started: Attempt{90, 1}, Alone: alone, Group: 7, Ran: ran, Blame: blame,
		}}
	}
	_, effects := afterCrash(t, false, note(1, true, time.Second))
	if n, ok := find[WriteNote](effects); !ok || n.Retry.Crashes != 2 || n.Retry.Blame != 2 ||
		n.Retry.Attempt != (Attempt{90, 1}) || n.Retry.Group == 0 {
		t.Errorf("%+v", effects)
	}
	_, effects = afterCrash(t, false, note(2, true, time.Second))
	if w, ok := find[WriteOutcome](effects); !ok || w.Outcome.Cause != CauseWorkerLost || w.Outcome.Status != StatusDead {
		t.Errorf("%+v", effects)
	}
	for _, n := range []Noted{note(2, false, time.Second), note(2, true, 0)} {
		_, effects = afterCrash(t, false, n)
		if n, ok := find[WriteNote](effects); !ok || n.Retry.Blame != 2 || n.Retry.Crashes != 3 {
			t.Errorf("it may not have been alone: %+v", effects)
		}
	}
}

func TestABegunAttemptThatSomebodyHasIsAdopted(t *testing.T) {
	b := newDriver(t)
	b.step(SealSeen{Revision: 1, Epoch: 90})
	b.step(Submitted{ID: "x", Revision: 2, Policy: policy})
	b.step(Noted{ID: "x", Revision: 3, Retry: Retry{Started: Attempt{90, 1}}})
	b.step(CaughtUp{})
	b.seal(9)
	b.step(Members{List: []Member{member(5)}})
	effects := b.step(Synced{Session: 5, Held: []Held{{"x", Attempt{90, 1}, 2}}})
	if r, _ := find[Ready](effects); r.Adopted != 1 {
		t.Errorf("%+v", effects)
	}
	if n, ok := find[WriteNote](effects); ok {
		t.Errorf("%+v", n)
	}
}

// TestABegunAttemptOfALivingWorker is none that took its worker down: the worker has refused it, or
// was never handed it. It counts if that worker dies before it has said what it has, and if it was
// another.
func TestABegunAttemptOfALivingWorker(t *testing.T) {
	for _, tt := range []struct {
		name    string
		session uint64
		then    Event
		counted bool
	}{
		{"it lives", 5, Synced{Session: 5}, false},
		{"it says so by the bucket", 5, Told{Session: 5, Epoch: 100}, false},
		{"it has another", 5, Synced{Session: 5, Held: []Held{{"y", Attempt{90, 2}, 2}}}, false},
		{"it is dead", 5, Dead{Session: 5}, true},
		{"it was another", 4, Synced{Session: 5}, true},
		{"a note of an older version", 0, Synced{Session: 5}, true},
	} {
		b := newDriver(t)
		b.revision = 10
		b.step(SealSeen{Revision: 1, Epoch: 90})
		b.step(Submitted{ID: "x", Revision: 2, Policy: policy})
		b.step(Noted{ID: "x", Revision: 3, Retry: Retry{
			Attempt: Attempt{80, 4}, Crashes: 2, Started: Attempt{90, 1}, Session: tt.session, Alone: true, Group: 7,
			Ran: time.Second, Blame: 2,
		}})
		b.step(CaughtUp{})
		b.seal(9)
		b.step(Members{List: []Member{member(5), member(200)}})
		effects := b.step(tt.then)
		if w, dead := find[WriteOutcome](effects); dead != tt.counted || dead && w.Outcome.Cause != CauseWorkerLost {
			t.Errorf("%s: %+v", tt.name, effects)
		}
		if r, _ := find[Reassigned](effects); !tt.counted && r.Cause != rejected {
			t.Errorf("%s: reassigned for %q: %+v", tt.name, r.Cause, effects)
		}
	}
}

// TestAClosedSessionHasLostNothing: what a worker that has left cleanly was still handed, or
// had not told of, goes back uncounted, and at once; what one that is lost had counts.
func TestAClosedSessionHasLostNothing(t *testing.T) {
	for _, tt := range []struct {
		name             string
		accepted, closed bool
		counted          int
		cause            string
	}{
		{"pushed and closed", false, true, 0, ""},
		{"running and closed", true, true, 0, released},
		{"pushed and lost", false, false, 1, CauseWorkerLost},
		{"running and lost", true, false, 1, CauseWorkerLost},
	} {
		b := readyDriver(t, SchedulerConfig{}, idle(200, 1), idle(201, 1))
		b.submit("x", Policy{}, nil)
		p, ok := find[Assign](b.pass(0))
		if !ok {
			t.Fatal("not handed out")
		}
		if tt.accepted {
			b.accept([]Effect{p})
		}
		effects := b.step(Dead{Session: p.Session, Closed: tt.closed})
		n, noted := find[WriteNote](effects)
		if noted != (tt.counted > 0) || n.Retry.Crashes != tt.counted {
			t.Errorf("%s: noted %v %+v", tt.name, noted, n.Retry)
		}
		if r, _ := find[Reassigned](effects); r.Cause != tt.cause {
			t.Errorf("%s: reassigned for %q", tt.name, r.Cause)
		}
		again, handed := find[Assign](effects)
		if handed != (tt.counted == 0) ||
			handed && (again.Session == p.Session || again.List[0].Attempt == p.List[0].Attempt) {
			t.Errorf("%s: handed out again: %v, %+v", tt.name, handed, again)
		}
	}
}

// TestALostWorkersReportIsStale, also while its loss is being noted: it is the loss that counts.
func TestALostWorkersReportIsStale(t *testing.T) {
	b := runningX(t)
	if _, noted := find[WriteNote](b.step(Dead{Session: 200})); !noted {
		t.Fatal("the loss is not noted")
	}
	effects := b.step(Done{Session: 200, ID: "x", Attempt: Attempt{100, 1}, Result: Result{Verb: Failed}, Ref: 1})
	if s, ok := find[Settle](effects); !ok || !s.Stale {
		t.Errorf("%+v", effects)
	}
}
