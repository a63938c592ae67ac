package tasks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// fleet is a scheduler with workers that die half a second after they were given a poison, and come
// back in another session. Everything else ends well after ten seconds.
type fleet struct {
	*driver
	poison  func(id string) bool
	runs    map[uint64]map[string]Attempt // by session
	dies    map[uint64]Instant
	ends    map[string]Instant
	slots   int
	session uint64
	lost    int
	ended   map[string]Status
}

func newFleet(t *testing.T, workers, slots int, poison func(id string) bool) *fleet {
	f := &fleet{
		driver: readyDriver(t, SchedulerConfig{LossTime: 10 * time.Second}), poison: poison, slots: slots, session: 200,
		runs: map[uint64]map[string]Attempt{}, dies: map[uint64]Instant{}, ends: map[string]Instant{},
		ended: map[string]Status{},
	}
	for range workers {
		f.join()
	}
	return f
}

func (f *fleet) join() {
	f.session++
	f.runs[f.session] = map[string]Attempt{}
	f.handle(f.step(Members{List: []Member{idle(f.session, f.slots)}}))
}

func (f *fleet) handle(effects []Effect) {
	for _, e := range effects {
		var more []Effect
		switch e := e.(type) {
		case WriteNote:
			f.revision++
			more = f.step(Written{Write: e.Write, Outcome: record.Won, Revision: f.revision})
		case WriteOutcome:
			f.revision++
			f.ended[e.ID] = e.Outcome.Status
			more = f.step(Written{Write: e.Write, Outcome: record.Won, Revision: f.revision})
		case Erase:
			more = f.step(Written{Write: e.Write, Outcome: record.Won})
		case Assign:
			var answers []Answer
			for _, a := range e.List {
				answers = append(answers, Answer{a.ID, a.Attempt, Accepted})
				f.runs[e.Session][a.ID] = a.Attempt
				f.ends[a.ID] = f.now.Add(10 * time.Second)
				if _, dying := f.dies[e.Session]; f.poison(a.ID) && !dying {
					f.dies[e.Session] = f.now.Add(500 * time.Millisecond)
				}
			}
			more = f.step(Answered{e.Session, e.Frame, answers})
		}
		f.handle(more)
	}
}

// until plays until all that was submitted has ended.
func (f *fleet) until(n int) {
	f.t.Helper()
	for began := f.now; len(f.ended) < n; {
		if f.now.Sub(began) > 100*time.Hour {
			f.t.Fatalf("%d of %d tasks have ended after %d lost workers", len(f.ended), n, f.lost)
		}
		for _, session := range slices.Sorted(maps.Keys(f.runs)) {
			if at, dies := f.dies[session]; dies && at <= f.now {
				f.lost++
				delete(f.runs, session)
				delete(f.dies, session)
				f.now = f.now.Add(5 * time.Second) // until that is known
				f.handle(f.step(Dead{Session: session}))
				f.join()
				continue
			}
			for _, id := range slices.Sorted(maps.Keys(f.runs[session])) {
				if a := f.runs[session][id]; f.ends[id] <= f.now && !f.poison(id) {
					delete(f.runs[session], id)
					f.handle(f.step(Done{Session: session, ID: id, Attempt: a, Result: Result{Verb: Succeeded}}))
				}
			}
		}
		f.handle(f.pass(250 * time.Millisecond))
	}
}

// TestAPoisonEndsNoNeighbour: of tasks that run together, those that take their worker down end
// dead, and no others, after so many lost workers as it takes to part them.
func TestAPoisonEndsNoNeighbour(t *testing.T) {
	for _, tt := range []struct{ workers, slots, innocents, poisons, most int }{
		{1, 32, 30, 1, 9}, // once together, five times in halves, three times blamed
		{2, 32, 30, 1, 9},
		{2, 16, 30, 1, 8},
		{1, 1, 10, 1, 3},
		{1, 32, 28, 3, 3 * 9},
		{3, 8, 100, 5, 5 * 9},
	} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			poison := func(id string) bool { return strings.HasPrefix(id, "poison") }
			f := newFleet(t, tt.workers, tt.slots, poison)
			for i := range tt.innocents {
				if i*tt.poisons%tt.innocents < tt.poisons {
					f.submit(fmt.Sprint("poison", i), Policy{}, nil)
				}
				f.submit(fmt.Sprint("innocent", i), Policy{}, nil)
			}
			f.handle(f.pass(0))
			f.until(tt.innocents + tt.poisons)
			for id, status := range f.ended {
				if want := map[bool]Status{true: StatusDead, false: StatusSucceeded}[poison(id)]; status != want {
					t.Errorf("%s is %s", id, status)
				}
			}
			if f.lost > tt.most {
				t.Errorf("%d workers were lost: at most %d", f.lost, tt.most)
			}
			if len(f.s.suspects) > 0 {
				t.Errorf("suspects are left: %v", f.s.suspects)
			}
		})
	}
}

// loseAll has a worker of many slots run some tasks and be lost after a while.
func loseAll(t *testing.T, after time.Duration, ids ...string) *driver {
	t.Helper()
	b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, 8))
	for _, id := range ids {
		b.submit(id, Policy{}, nil)
	}
	b.accept(b.pass(0))
	b.pass(after)
	b.storeAll(b.step(Dead{Session: 200}))
	b.pass(b.s.cfg.AnswerTime)
	return b
}

// TestGroupsOfSuspectsAreTriedApart: a worker runs those of one group, beside any other tasks. The
// others wait, and it is said why, until those have run twice as long as when they were lost.
func TestGroupsOfSuspectsAreTriedApart(t *testing.T) {
	b := loseAll(t, 3*time.Second, "a", "b", "c", "d")
	b.submit("new", Policy{}, nil)
	effects := b.step(Members{List: []Member{idle(300, 8)}})
	expect(t, "first", handedOut(effects), "a@w300", "b@w300", "new@w300")
	b.accept(effects)
	if g, _ := b.s.TaskInfo(b.now, "c"); g.Reason != ReasonSuspect {
		t.Errorf("c waits for %q", g.Reason)
	}
	if next := b.s.Next(b.now); next > 7100*time.Millisecond || next < 6*time.Second {
		t.Errorf("it looks again in %v", next)
	}
	expect(t, "too early", handedOut(b.pass(6*time.Second)))
	expect(t, "a and b are cleared", handedOut(b.pass(1100*time.Millisecond)), "c@w300", "d@w300")
	// Another worker takes the other group at once.
	b = loseAll(t, 3*time.Second, "a", "b", "c", "d")
	expect(t, "apart", handedOut(b.step(Members{List: []Member{idle(300, 8), idle(301, 8)}})), "a@w300", "b@w300",
		"c@w301", "d@w301")
}

// TestWhatHasEndedIsCleared: another attempt of it is not suspected, however it has ended.
func TestWhatHasEndedIsCleared(t *testing.T) {
	b := loseAll(t, 3*time.Second, "a", "b")
	effects := b.step(Members{List: []Member{idle(300, 8)}})
	b.accept(effects)
	p, _ := find[Assign](effects)
	effects = b.step(Done{Session: 300, ID: "a", Attempt: p.List[0].Attempt, Result: Result{Verb: Failed}})
	if n, ok := find[WriteNote](effects); !ok || n.Retry.Group != 0 || n.Retry.Crashes != 1 {
		t.Errorf("%+v", effects)
	}
	expect(t, "b", handedOut(effects), "b@w300")
}

// TestTheLastLossMustBeItsOwn: a suspect that the next loss could end runs alone, and what comes
// waits for it. When something may run beside it all the same, the loss does not end it.
func TestTheLastLossMustBeItsOwn(t *testing.T) {
	for name, unsure := range map[string]bool{"alone": false, "beside what was stopped": true} {
		b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, 8))
		b.submit("x", Policy{CrashBudget: 2}, nil)
		b.accept(b.pass(0))
		b.pass(3 * time.Second)
		b.storeAll(b.step(Dead{Session: 200}))
		b.submit("long", Policy{Kind: "other"}, nil)
		m := idle(300, 8)
		m.Kinds, m.Alone = []string{"k", "other"}, false // of an earlier version
		b.s.Step(b.now, Members{List: []Member{m}}, nil)
		expect(t, name, handedOut(b.pass(0)), "x@w300")
		if unsure {
			b.s.workers[300].unsure = true
		}
		if g, _ := b.s.TaskInfo(b.now, "long"); g.Reason != ReasonReserved {
			t.Errorf("%s: the other one waits for %q", name, g.Reason)
		}
		effects := b.step(Dead{Session: 300})
		if w, dead := find[WriteOutcome](effects); dead == unsure || dead && w.Outcome.Cause != CauseWorkerLost {
			t.Errorf("%s: %+v", name, effects)
		}
		if n, noted := find[WriteNote](effects); noted != unsure || noted && n.Retry.Blame != 1 {
			t.Errorf("%s: %+v", name, effects)
		}
	}
}

// TestRoomIsMadeForAnIsolatedSuspect: a worker that runs something is given nothing new, until it
// runs nothing.
func TestRoomIsMadeForAnIsolatedSuspect(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, 8))
	b.submit("x", Policy{CrashBudget: 2}, nil)
	b.accept(b.pass(0))
	b.pass(3 * time.Second)
	effects := b.step(Dead{Session: 200})
	b.submit("long", Policy{Priority: 100}, nil)
	effects = append(effects, b.step(Members{List: []Member{idle(300, 8)}})...)
	expect(t, "first", handedOut(effects), "long@w300")
	b.accept(effects)
	b.storeAll(effects)
	b.submit("new", Policy{}, nil)
	expect(t, "a worker that runs something", handedOut(b.pass(time.Second)))
	effects = b.accept(effects, "long")
	expect(t, "it runs nothing", handedOut(effects), "x@w300")
	b.accept(effects)
	expect(t, "beside it", handedOut(b.pass(2*time.Second)))
	expect(t, "it is cleared", handedOut(b.pass(20*time.Second)), "new@w300")
}

// TestATaskThatAdvancesMayLoseMore: with each loss after a checkpoint its blame is halved; but all
// losses have a bound.
func TestATaskThatAdvancesMayLoseMore(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submit("x", Policy{CrashBudget: 3}, nil)
	effects := b.pass(0)
	session := uint64(200)
	for losses := 1; ; losses++ {
		b.accept(effects)
		p, ok := find[Assign](effects)
		if !ok {
			t.Fatalf("it is not run again after %d losses: %+v", losses-1, effects)
		}
		w, _ := find[WriteCheckpoint](b.step(Progressed{
			Session: session, ID: "x", Attempt: p.List[0].Attempt, Ran: 1, Checkpoint: []byte("far"),
		}))
		b.revision++
		b.step(Written{Write: w.Write, Outcome: record.Won, Revision: b.revision})
		effects = b.step(Dead{Session: session})
		if _, dead := find[WriteOutcome](effects); dead || losses > 30 {
			if losses != 30 {
				t.Errorf("dead after %d losses", losses)
			}
			return
		}
		n, _ := find[WriteNote](effects)
		if n.Retry.Blame > 2 || n.Retry.Crashes != losses {
			t.Fatalf("after %d losses: %+v", losses, n)
		}
		session++
		b.storeAll(effects)
		effects = b.step(Members{List: []Member{idle(session, 1)}})
	}
}

// TestSuspicionOutlivesTheScheduler: the next one finds it in the notes, whatever the order in
// which it reads them.
func TestSuspicionOutlivesTheScheduler(t *testing.T) {
	b := newDriver(t)
	b.revision = 20
	for i, id := range []string{"a", "b", "c"} {
		b.step(Submitted{ID: id, Revision: uint64(i + 1), Policy: policy})
	}
	for i, n := range []Retry{{Group: 8, Ran: time.Second}, {Group: 9, Ran: time.Second}, {}} {
		n.Attempt, n.Crashes = Attempt{90, 1}, 1
		b.step(Noted{ID: string(rune('a' + i)), Revision: uint64(10 + i), Retry: n})
	}
	b.step(CaughtUp{})
	b.seal(19)
	expect(t, "apart", handedOut(b.step(Members{List: []Member{idle(300, 8)}})), "a@w300", "c@w300")
	expect(t, "apart", handedOut(b.step(Members{List: []Member{idle(300, 8), idle(301, 8)}})), "b@w301")
}

// TestNothingBeginsUnnotedBesideANotedOne: at the scheduler's own worker, since the next scheduler
// takes the noted ones for all that ran there.
func TestNothingBeginsUnnotedBesideANotedOne(t *testing.T) {
	b, effects := afterCrash(t, false)
	n, _ := find[WriteNote](effects)
	own := idle(200, 8)
	own.Own = true
	b.step(Members{List: []Member{own}})
	b.accept(b.step(Written{Write: n.Write, Outcome: record.Won, Revision: 11}))
	b.revision = 20
	b.submit("new", Policy{}, nil)
	if n, ok := find[WriteNote](b.pass(0)); !ok || n.ID != "new" || n.Retry.Started.IsZero() || n.Retry.Alone {
		t.Errorf("%+v", n)
	}
}
