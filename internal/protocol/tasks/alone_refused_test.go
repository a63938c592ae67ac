package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// refusers are workers of a scheduler, each with a handler that was told to stop. Until it returns
// they refuse what must run alone. Other tasks last for a while there.
type refusers struct {
	*driver
	returns Instant // when the handlers do
	lasts   func(n int) time.Duration
	later   []comes

	refused int
	alone   Instant // when something was taken that must run alone
	by      uint64  // which worker took it
	began   map[string]Instant
	ended   int
}

type comes struct {
	at   Instant
	what func() []Effect
}

// besideASuspect has one task that must run alone wait, and so many workers of some slots.
func besideASuspect(t *testing.T, workers, slots int) *refusers {
	b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, slots))
	b.submit("x", Policy{CrashBudget: 2}, nil)
	b.accept(b.pass(0))
	b.pass(3 * time.Second)
	b.storeAll(b.step(Dead{Session: 200}))
	b.pass(3 * time.Second)
	var list []Member
	for i := range workers {
		list = append(list, idle(uint64(300+i), slots))
	}
	f := &refusers{driver: b, began: map[string]Instant{}}
	f.handle(b.s.Step(b.now, Members{List: list}, nil))
	return f
}

func (f *refusers) after(d time.Duration, what func() []Effect) {
	f.later = append(f.later, comes{f.now.Add(d), what})
}

func (f *refusers) handle(effects []Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case WriteNote:
			f.after(0, func() []Effect { return f.stored(e.Write) })
		case WriteOutcome:
			f.after(0, func() []Effect { return f.stored(e.Write) })
		case Assign:
			f.after(0, func() []Effect { return f.answer(e) })
		}
	}
}

func (f *refusers) stored(write uint64) []Effect {
	f.revision++
	return f.step(Written{Write: write, Outcome: record.Won, Revision: f.revision})
}

func (f *refusers) answer(e Assign) []Effect {
	var answers []Answer
	for _, a := range e.List {
		answer := Answer{a.ID, a.Attempt, Accepted}
		switch {
		case a.Alone && f.now < f.returns:
			answer.Verdict = Busy
			f.refused++
		case a.Alone:
			f.alone, f.by = f.now, e.Session
		default:
			f.began[a.ID] = f.now
			f.after(f.lasts(len(f.began)), func() []Effect {
				f.ended++
				return f.step(Done{Session: e.Session, ID: a.ID, Attempt: a.Attempt, Result: Result{Verb: Succeeded}})
			})
		}
		answers = append(answers, answer)
	}
	return f.step(Answered{e.Session, e.Frame, answers})
}

// runs lets time pass in steps, with a task now and then.
func (f *refusers) runs(length, every, step time.Duration) (submitted map[string]Instant) {
	submitted = map[string]Instant{}
	began, next := f.now, f.now
	for f.now.Sub(began) < length {
		f.now = f.now.Add(step)
		if next <= f.now {
			next = next.Add(every)
			id := fmt.Sprint("n", len(submitted))
			submitted[id] = f.now
			f.submit(id, Policy{}, nil)
			f.handle(f.step(Tick{}))
		}
		due := f.later
		f.later = nil
		for _, c := range due {
			if c.at > f.now {
				f.later = append(f.later, c)
				continue
			}
			f.handle(c.what())
		}
		f.handle(f.s.Step(f.now, Tick{}, nil))
	}
	return submitted
}

// TestARefusedSuspectHoldsNobodyBack: where each worker has a handler that does not return, all
// other tasks go at once, and the one that must run alone is offered ever more rarely. It goes soon
// after a handler has returned.
func TestARefusedSuspectHoldsNobodyBack(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		f := besideASuspect(t, workers, 8)
		f.lasts, f.returns = func(int) time.Duration { return 50 * time.Millisecond }, f.now.Add(10*time.Minute)
		submitted := f.runs(12*time.Minute, 500*time.Millisecond, 10*time.Millisecond)
		for id, at := range submitted {
			if began := f.began[id]; at < f.returns && (began == 0 || began.Sub(at) > time.Second) {
				t.Fatalf("%d workers: %s has waited from %v to %v", workers, id, at, began)
			}
		}
		if least, most := 10*workers, 17*workers; f.refused < least || f.refused > most {
			t.Errorf("%d workers: %d refusals, want %d to %d", workers, f.refused, least, most)
		}
		if f.alone == 0 || f.alone.Sub(f.returns) > longestShun+time.Second {
			t.Errorf("%d workers: it goes at %v, and the handlers return at %v", workers, f.alone, f.returns)
		}
		if f.s.workers[f.by].shunned != 0 {
			t.Errorf("%d workers: the one that takes it counts as one that refuses", workers)
		}
	}
}

// TestAWorkerIsEmptiedInVainForAPartOfItsTime: where there is always more to do, a worker is given
// nothing now and then, so that a task that must run alone finds it empty. Where it refuses each
// time, others have most of its time all the same.
func TestAWorkerIsEmptiedInVainForAPartOfItsTime(t *testing.T) {
	const slots, length, mean = 4, 12 * time.Hour, 3 * time.Minute
	f := besideASuspect(t, 1, slots)
	f.lasts, f.returns = func(n int) time.Duration { return time.Duration(1+n%5) * time.Minute }, never
	f.runs(length, mean/slots, 40*time.Millisecond)
	if all := slots * int(length/mean); f.ended < all*4/5 || f.refused < 3 {
		t.Errorf("%d tasks of %d, and %d refusals", f.ended, all, f.refused)
	}
}

// TestAWorkerThatRunsNothingIsAskedSoon: it was given nothing for an hour, in vain. That only keeps
// it from being emptied again for long. When it runs nothing by itself, it is asked within a
// minute.
func TestAWorkerThatRunsNothingIsAskedSoon(t *testing.T) {
	f := besideASuspect(t, 1, 4)
	f.lasts, f.returns = func(int) time.Duration { return time.Hour }, f.now.Add(70*time.Minute)
	f.runs(2*time.Hour, 3*time.Hour, 100*time.Millisecond)
	if f.ended != 1 || f.refused < 2 {
		t.Fatalf("%d tasks have ended, and %d refusals", f.ended, f.refused)
	}
	if f.alone == 0 || f.alone.Sub(f.returns) > longestShun+time.Second {
		t.Errorf("it goes at %v, and the handler returns at %v", f.alone, f.returns)
	}
}

// TestAnotherWorkerIsEmptiedMeanwhile: the worker that has refused runs nothing, and is not asked
// for a second. Another one that is busy is emptied meanwhile, so that the task does not depend on
// the first.
func TestAnotherWorkerIsEmptiedMeanwhile(t *testing.T) {
	f := besideASuspect(t, 2, 1)
	f.lasts, f.returns = func(int) time.Duration { return time.Hour }, never
	f.runs(time.Minute, 3*time.Hour, 10*time.Millisecond) // one task comes, and both refuse
	busy := f.s.workers[300]
	if len(busy.held) == 0 {
		busy = f.s.workers[301]
	}
	if len(busy.held) != 1 || busy.emptied == 0 {
		t.Errorf("it runs %d tasks, and is given nothing since %v", len(busy.held), busy.emptied)
	}
}

// TestAWorkerThatIsNotEmptiedAnyMore: it was given nothing for a while, the task that must run
// alone went elsewhere, and others go there again. That while says nothing of a later refusal.
func TestAWorkerThatIsNotEmptiedAnyMore(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(300, 2))
	b.submit("n0", Policy{}, nil)
	b.accept(b.pass(0))
	b.s.Step(b.now, Members{List: []Member{idle(200, 8)}}, nil)
	b.submit("x", Policy{CrashBudget: 2}, nil)
	effects := b.pass(0)
	expect(t, "it goes to the emptier one", handedOut(effects), "x@w200")
	b.accept(effects)
	b.pass(3 * time.Second)
	b.storeAll(b.step(Dead{Session: 200}))
	b.pass(3 * time.Second)
	w := b.s.workers[300]
	if w.emptied == 0 {
		t.Fatal("nobody is emptied for it")
	}
	b.s.Step(b.now, Members{List: []Member{idle(301, 8)}}, nil)
	b.accept(b.pass(0)) // it goes there
	b.submit("n1", Policy{}, nil)
	expect(t, "others go there again", handedOut(b.pass(0)), "n1@w300")
	if w.emptied != 0 {
		t.Error("it counts as being emptied")
	}
}
