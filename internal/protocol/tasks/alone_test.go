package tasks

import (
	"fmt"
	"testing"
	"time"
)

// TestWhatWasStoppedDoesNotSaveAPoison: each worker was told once to stop a task. A task that must
// run alone runs there only when nothing else does, so its loss counts. It takes down as many
// workers as its budget says, and no more.
func TestWhatWasStoppedDoesNotSaveAPoison(t *testing.T) {
	f := newFleet(t, 20, 8, func(id string) bool { return id == "x" })
	for i := range 20 {
		f.submit(fmt.Sprint("c", i), Policy{}, nil)
	}
	f.handle(f.pass(time.Millisecond))
	stopped := 0
	for session, runs := range f.runs {
		for id, a := range runs {
			f.revision++
			f.handle(f.step(CancelAsked{ID: id, Revision: f.revision}))
			f.handle(f.step(Stopped{Session: session, ID: id, Attempt: a}))
			delete(f.runs[session], id)
			stopped++
		}
	}
	for _, w := range f.s.workerList {
		if !w.unsure {
			t.Errorf("worker %d has stopped nothing", w.session)
		}
	}
	f.handle(f.pass(time.Hour))
	f.submit("x", Policy{}, nil)
	f.handle(f.pass(time.Millisecond))
	f.until(stopped + 1)
	if f.ended["x"] != StatusDead || f.lost != 3 {
		t.Errorf("%d tasks were stopped, and the poison is %q after %d lost workers, want dead after 3", stopped,
			f.ended["x"], f.lost)
	}
}

// TestAWorkerIsFreeAfterTheTrial: a suspect that had to run alone has run for long enough, and runs
// on. One that need not run alone comes beside it, and then anything else.
func TestAWorkerIsFreeAfterTheTrial(t *testing.T) {
	for name, opaque := range map[string]bool{"": false, "of a task of a later version": true} {
		b := newDriver(t)
		b.revision = 20
		note := Retry{
			Attempt: Attempt{90, 1}, Started: Attempt{91, 1}, Session: 50, Alone: true, Group: 8, Ran: time.Hour, Blame: 2,
		}
		if opaque {
			b.step(Opaque{ID: "x", Revision: 1})
		} else {
			b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
		}
		b.step(Submitted{ID: "y", Revision: 2, Policy: policy})
		b.step(Noted{ID: "x", Revision: 3, Retry: note})
		b.step(Noted{ID: "y", Revision: 4, Retry: Retry{Attempt: Attempt{90, 2}, Crashes: 1, Group: 12, Ran: 5 * time.Hour}})
		b.step(CaughtUp{})
		b.seal(19)
		b.step(Members{List: []Member{idle(50, 8)}})
		b.step(Synced{Session: 50, Held: []Held{{"x", Attempt{91, 1}, 1}}})
		expect(t, "in the trial "+name, handedOut(b.pass(0)))
		effects := b.pass(2*time.Hour + time.Minute)
		expect(t, "after the trial "+name, handedOut(effects), "y@w50")
		b.accept(effects)
		b.submit("new", Policy{}, nil)
		expect(t, "beside the second "+name, handedOut(b.pass(time.Second)), "new@w50")
	}
}

// TestWhatRunsBesideAWorkersTasks: a worker that says at the takeover that more runs there than it
// names is not said to have run one task alone.
func TestWhatRunsBesideAWorkersTasks(t *testing.T) {
	for beside, dead := range []bool{true, false} {
		b := newDriver(t)
		b.revision = 20
		b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
		b.step(Noted{ID: "x", Revision: 3, Retry: Retry{
			Attempt: Attempt{90, 1}, Crashes: 2, Group: 8, Ran: time.Hour, Blame: 2,
		}})
		b.step(CaughtUp{})
		b.seal(19)
		b.step(Members{List: []Member{idle(50, 8)}})
		b.step(Synced{Session: 50, Held: []Held{{"x", Attempt{91, 1}, 1}}, Beside: beside})
		b.pass(time.Second)
		if _, ended := find[WriteOutcome](b.step(Dead{Session: 50})); ended != dead {
			t.Errorf("%d beside it: ended %t", beside, ended)
		}
	}
}

// TestWhatMustRunAloneHasToBeTaken: a worker that was told to stop something is lost before it has
// said that it takes what must run alone. It may have died of what it was to stop.
func TestWhatMustRunAloneHasToBeTaken(t *testing.T) {
	for _, taken := range []bool{false, true} {
		b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, 8))
		b.submit("x", Policy{CrashBudget: 2}, nil)
		b.accept(b.pass(0))
		b.pass(3 * time.Second)
		b.storeAll(b.step(Dead{Session: 200}))
		b.s.Step(b.now, Members{List: []Member{idle(300, 8)}}, nil)
		b.s.workers[300].unsure = true
		effects := b.pass(0)
		expect(t, "it waits for nobody else", handedOut(effects), "x@w300")
		p, _ := find[Assign](effects)
		if !p.List[0].Alone {
			t.Error("the worker is not told that it must run alone")
		}
		if taken {
			b.accept(effects)
		}
		if _, dead := find[WriteOutcome](b.step(Dead{Session: 300})); dead != taken {
			t.Errorf("taken %t, dead %t", taken, dead)
		}
	}
}

// TestWhatMustRunAloneGoesWhereNothingWasStopped first.
func TestWhatMustRunAloneGoesWhereNothingWasStopped(t *testing.T) {
	for _, unsure := range []uint64{300, 301} {
		b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, 8))
		b.submit("x", Policy{CrashBudget: 2}, nil)
		b.accept(b.pass(0))
		b.pass(3 * time.Second)
		b.storeAll(b.step(Dead{Session: 200}))
		b.s.Step(b.now, Members{List: []Member{idle(300, 8), idle(301, 8)}}, nil)
		b.s.workers[unsure].unsure = true
		expect(t, fmt.Sprint(unsure), handedOut(b.pass(0)), fmt.Sprint("x@w", 601-unsure))
	}
}

// TestWhereAHandlerDoesNotReturn: a worker refuses what must run alone, since one of its handlers
// does not return. The next attempt goes to another worker.
func TestWhereAHandlerDoesNotReturn(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, 8))
	b.submit("x", Policy{CrashBudget: 2}, nil)
	b.accept(b.pass(0))
	b.pass(3 * time.Second)
	b.storeAll(b.step(Dead{Session: 200}))
	b.s.Step(b.now, Members{List: []Member{idle(300, 8), idle(301, 8)}}, nil)
	effects := b.pass(0)
	first := handedOut(effects)
	p, _ := find[Assign](effects)
	a := p.List[0]
	for _, w := range b.s.workerList {
		w.paused = b.now.Add(time.Second)
	}
	expect(t, "for a moment", handedOut(b.step(Answered{p.Session, p.Frame, []Answer{{a.ID, a.Attempt, Busy}}})))
	if next := handedOut(b.pass(2 * time.Second)); len(next) != 1 || next[0] == first[0] {
		t.Errorf("%v and then %v", first, next)
	}
}

// TestANewSessionBesideHandlersOfAnEarlierOne: its process may die of one of these before it has
// answered what it is sent. So a task that it was sent to run alone does not end for that.
func TestANewSessionBesideHandlersOfAnEarlierOne(t *testing.T) {
	for _, beside := range []bool{false, true} {
		b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, 8))
		b.submit("x", Policy{CrashBudget: 2}, nil)
		b.accept(b.pass(0))
		b.pass(3 * time.Second)
		b.storeAll(b.step(Dead{Session: 200}))
		m := idle(300, 8)
		m.Beside = beside
		b.s.Step(b.now, Members{List: []Member{m}}, nil)
		expect(t, "there is nobody else", handedOut(b.pass(0)), "x@w300")
		if _, dead := find[WriteOutcome](b.step(Dead{Session: 300})); dead == beside {
			t.Errorf("beside others: %t, dead %t", beside, dead)
		}
	}
}
