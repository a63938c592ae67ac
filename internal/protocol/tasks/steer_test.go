package tasks

import (
	"testing"
	"time"
)

func findAll[E Effect](all []Effect) (found []E) {
	for _, x := range all {
		if e, ok := x.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func TestPause(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	b.step(PauseSeen{Kind: "k", Revision: 1, Paused: true}) // before there is a task of it
	b.submit("t", Policy{}, nil)
	expect(t, "paused", handedOut(b.step(Members{List: []Member{idle(200, 2)}})))
	if v := b.s.Overview().Kinds; len(v) != 1 || !v[0].Paused || v[0].Waiting != 1 {
		t.Errorf("%+v", v)
	}
	expect(t, "continues", handedOut(b.step(PauseSeen{Kind: "k", Revision: 2})), "t@w200")
}

func TestDrain(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 2))
	b.step(DrainSeen{Instance: "w200", Revision: 1, Draining: true})
	b.submit("t", Policy{}, nil)
	expect(t, "drained", handedOut(b.pass(0)))
	again := idle(300, 2)
	again.Instance = "w200"
	expect(t, "in its next session too", handedOut(b.step(Members{List: []Member{again}})))
	if v := b.s.Overview().Workers; len(v) != 2 || !v[0].Drained || !v[1].Drained {
		t.Errorf("%+v", v)
	}
	if got := handedOut(b.step(DrainSeen{Instance: "w200", Revision: 2})); len(got) != 1 {
		t.Errorf("it continues with %v", got)
	}
}

// TestPauseTakesBackWhatHasNotLeft: what waits for its worker's answer to another frame is not sent
// after the pause.
func TestPauseTakesBackWhatHasNotLeft(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 5))
	b.submit("t1", Policy{}, &Keys{Sticky: "s"})
	first := b.pass(0)
	b.submit("t2", Policy{}, &Keys{Sticky: "s"})
	b.pass(0)
	if g, _ := b.s.TaskInfo(b.now, "t2"); g.State != StateRunning {
		t.Fatalf("%+v", g)
	}
	b.step(PauseSeen{Kind: "k", Revision: 1, Paused: true})
	if g, _ := b.s.TaskInfo(b.now, "t2"); g.State != StatePending || g.Tries != 0 {
		t.Errorf("%+v", g)
	}
	expect(t, "after the answer", handedOut(b.accept(first, "t1")))
}

func TestCancel(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submit("runs", Policy{}, nil)
	b.submit("waits", Policy{}, nil)
	first := b.pass(0)
	b.accept(first)
	effects := b.step(CancelAsked{ID: "runs", Revision: 50})
	stop, ok := find[Stop](effects)
	w, ok2 := find[WriteOutcome](effects)
	if !ok || !ok2 || stop.ID != "runs" || w.Outcome.Status != StatusCancelled || w.Outcome.Tries != 1 {
		t.Fatalf("%+v", effects)
	}
	if _, early := find[Erase](effects); early {
		t.Error("the request is removed before the outcome is stored")
	}
	effects = b.storeAll(effects)
	if e, ok := find[Erase](effects); !ok || e.What != CancelRecord || e.Expect != 50 || e.ID != "runs" {
		t.Errorf("%+v", effects)
	}
	late := b.step(Done{Session: 200, ID: "runs", Attempt: Attempt{100, 1}, Result: Result{Verb: Succeeded}, Ref: 1})
	if s, ok := find[Settle](late); !ok || !s.Stale {
		t.Errorf("a late result: %+v", late)
	}
	if e, ok := find[Erase](b.step(CancelAsked{ID: "nobody", Revision: 51})); !ok || e.Expect != 51 {
		t.Errorf("a request about no task stays: %+v", e)
	}
}

// TestCancelWaitsForAScheduler: what was asked while nobody led holds, unless the task was
// submitted after it.
func TestCancelWaitsForAScheduler(t *testing.T) {
	b := newDriver(t)
	b.step(CancelAsked{ID: "former", Revision: 1})
	b.step(CancelAsked{ID: "gone", Revision: 2})
	b.step(Submitted{ID: "former", Revision: 3, Policy: policy})
	b.step(Submitted{ID: "x", Revision: 4, Policy: policy})
	b.step(CancelAsked{ID: "x", Revision: 5})
	b.step(CaughtUp{})
	effects := b.seal(9)
	if w, ok := find[WriteOutcome](effects); !ok || w.ID != "x" || w.Outcome.Status != StatusCancelled {
		t.Errorf("%+v", effects)
	}
	erased := findAll[Erase](effects)
	if len(erased) != 2 || erased[0].ID != "former" || erased[1].ID != "gone" {
		t.Errorf("%+v", erased)
	}
	if _, open := b.s.TaskInfo(b.now, "former"); !open {
		t.Error("a request from before its submission has ended a task")
	}
}

func TestUniqueKeyIsFreed(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.step(UniqueSeen{Key: "u", Revision: 10, Task: "t"})
	b.submit("t", Policy{}, &Keys{Unique: "u"})
	effects := b.accept(b.pass(0), "t")
	if _, early := find[FreeUnique](effects); early {
		t.Error("before the outcome is stored")
	}
	effects = b.storeAll(effects)
	if f, ok := find[FreeUnique](effects); !ok || f.Key != "u" || f.Expect != 10 {
		t.Errorf("%+v", effects)
	}
}

// TestUniqueKeyOfAnother: a key that another task has taken over since, or this one again, is not
// freed.
func TestUniqueKeyOfAnother(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.step(UniqueSeen{Key: "u", Revision: 11, Task: "t"})
	b.submit("t", Policy{}, &Keys{Unique: "u"})
	effects := b.accept(b.pass(0), "t")
	b.step(UniqueSeen{Key: "u", Revision: 30, Task: "other"})
	if f, ok := find[FreeUnique](b.storeAll(effects)); ok {
		t.Errorf("%+v", f)
	}
	b.revision = 40
	b.submit("t", Policy{}, &Keys{Unique: "u"})
	b.step(UniqueSeen{Key: "u", Revision: 42, Task: "t"})
	b.revision = 42
	b.submit("t", Policy{}, &Keys{Unique: "u"}) // its outcome was replaced by a new submission
	if f, ok := find[FreeUnique](b.pass(time.Minute)); ok {
		t.Errorf("%+v", f)
	}
}

// TestUniqueKeyOfTheNextLife: the task was submitted again before we have heard that its outcome is
// stored, and of the two records of that we have read the first.
func TestUniqueKeyOfTheNextLife(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.step(UniqueSeen{Key: "u", Revision: 10, Task: "t"})
	b.submit("t", Policy{}, &Keys{Unique: "u"})
	effects := b.accept(b.pass(0), "t")
	b.step(UniqueSeen{Key: "u", Revision: 20, Task: "t"})
	if f, ok := find[FreeUnique](b.storeAll(effects)); ok {
		t.Errorf("%+v", f)
	}
}

func TestUniqueKeysThatAreLeft(t *testing.T) {
	b := newDriver(t)
	b.step(UniqueSeen{Key: "ended", Revision: 1, Task: "gone"})
	b.step(UniqueSeen{Key: "open", Revision: 2, Task: "x"})
	b.step(Submitted{ID: "x", Revision: 3, Policy: policy, Keys: &Keys{Unique: "open"}})
	b.step(CaughtUp{})
	freed := findAll[FreeUnique](b.seal(9))
	if len(freed) != 1 || freed[0].Key != "ended" || freed[0].Expect != 1 {
		t.Errorf("%+v", freed)
	}
}

// TestUniqueKeyOfATaskToCome: a key whose task is not there is freed unless its reservation is:
// then the submission may be under way. The outcome of a dead task is like a reservation. A later
// record of the place proves that nothing is to come.
func TestUniqueKeyOfATaskToCome(t *testing.T) {
	b := newDriver(t)
	b.step(Reserved{ID: "coming", Revision: 1})
	b.step(UniqueSeen{Key: "a", Revision: 2, Task: "coming", At: 1})
	b.step(Reserved{ID: "shut", Revision: 4})
	b.step(UniqueSeen{Key: "b", Revision: 5, Task: "shut", At: 3})
	b.step(Reserved{ID: "ended", Revision: 6})
	b.step(UniqueSeen{Key: "c", Revision: 7, Task: "ended", At: 6})
	b.step(Settled{ID: "ended", Revision: 8})
	b.step(Settled{ID: "dead", Revision: 9, Keyed: true})
	b.step(UniqueSeen{Key: "d", Revision: 10, Task: "dead", At: 9})
	b.step(CaughtUp{})
	freed := findAll[FreeUnique](b.seal(11))
	if len(freed) != 2 || freed[0].Key != "b" || freed[1].Key != "c" {
		t.Errorf("%+v", freed)
	}
	b.step(Submitted{ID: "dead", Revision: 19, Policy: policy, Keys: &Keys{Unique: "d"}})
	b.step(Submitted{ID: "coming", Revision: 20, Policy: policy, Keys: &Keys{Unique: "a"}})
	effects := b.step(Settled{ID: "coming", Revision: 21})
	if f, ok := find[FreeUnique](effects); !ok || f.Key != "a" || f.Expect != 2 {
		t.Errorf("%+v", effects)
	}
}

// TestUniqueKeyBetweenTheSeals: the reservation was there when the first seal was stored. When the
// reading came to it, the submission had taken its place, behind the second seal.
func TestUniqueKeyBetweenTheSeals(t *testing.T) {
	b := newDriver(t)
	b.step(CaughtUp{})
	b.step(SealSeen{Revision: 4, Epoch: 100, Ours: true})
	b.step(UniqueSeen{Key: "u", Revision: 7, Task: "x", At: 6})
	if f, ok := find[FreeUnique](b.step(SealSeen{Revision: 8, Epoch: 100, Ours: true})); ok {
		t.Errorf("%+v", f)
	}
	b.step(Submitted{ID: "x", Revision: 9, Policy: policy, Keys: &Keys{Unique: "u"}})
	if f, ok := find[FreeUnique](b.step(Settled{ID: "x", Revision: 10})); !ok || f.Expect != 7 {
		t.Error("its key is not freed in the end")
	}
}

// TestUniqueKeyTakenTooLate: a client submits a dead task again that was already. Its record of the
// key is freed with the task.
func TestUniqueKeyTakenTooLate(t *testing.T) {
	b := newDriver(t)
	b.step(CaughtUp{})
	b.seal(4)
	b.step(UniqueSeen{Key: "u", Revision: 7, Task: "x", At: 6})
	b.step(Submitted{ID: "x", Revision: 8, Policy: policy, Keys: &Keys{Unique: "u"}})
	b.step(UniqueSeen{Key: "u", Revision: 9, Task: "x", At: 6})
	if f, ok := find[FreeUnique](b.step(Settled{ID: "x", Revision: 10})); !ok || f.Expect != 9 {
		t.Errorf("%+v", f)
	}
}
