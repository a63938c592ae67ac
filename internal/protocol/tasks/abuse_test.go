package tasks

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// TestAWriteThatIsNeverTakenIsNoLoop: a write that the server never takes: the seals between the
// attempts take their time.
func TestAWriteThatIsNeverTakenIsNoLoop(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	b.submit("x", Policy{}, nil)
	p, _ := find[Assign](b.pass(0))
	b.s.Step(b.now, Answered{200, p.Frame, []Answer{{"x", p.List[0].Attempt, Accepted}}}, nil)
	out := b.s.Step(b.now, Done{Session: 200, ID: "x", Attempt: p.List[0].Attempt, Result: Result{Verb: Succeeded}}, nil)
	seals, rev := 0, uint64(1000)
	start := b.now
	for i := 0; i < 1000; i++ {
		w, ok := find[WriteOutcome](out)
		if !ok {
			break
		}
		out = b.s.Step(b.now, Written{Write: w.Write, Outcome: record.Unknown}, nil)
		sw, ok := find[WriteSeal](out)
		if !ok {
			break
		}
		seals++
		b.s.Step(b.now, Written{Write: sw.Write, Outcome: record.Won}, nil)
		rev++
		out = b.s.Step(b.now, SealSeen{Revision: rev, Epoch: 100, Ours: true}, nil)
		if _, second := find[WriteSeal](out); second {
			seals++
			rev++
			out = b.s.Step(b.now, SealSeen{Revision: rev, Epoch: 100, Ours: true}, nil)
		}
	}
	t.Logf("%d seals in %v of virtual time", seals, b.now.Sub(start))
	if seals > 20 {
		t.Errorf("hot loop: %d seals in %v", seals, b.now.Sub(start))
	}
}

// TestARateIsKeptAmongManyKinds: a kind is remembered for as long as its rate binds it, however
// many kinds there are.
func TestARateIsKeptAmongManyKinds(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1000))
	b.pass(time.Hour)
	for i := range 300 {
		b.submitFor(fmt.Sprint("o", i), Policy{Kind: fmt.Sprint("other", i)}, Times{Delay: time.Hour * 24}, nil)
	}
	n := 0
	for i := range 20 {
		b.submit(fmt.Sprint("r", i), Policy{Rate: 0.01}, nil)
		out := b.pass(time.Millisecond)
		n += len(handedOut(out))
		// it runs and ends
		for _, p := range findAll[Assign](out) {
			for _, a := range p.List {
				b.s.Step(b.now, Answered{p.Session, p.Frame, []Answer{{a.ID, a.Attempt, Accepted}}}, nil)
				for _, e := range b.step(Done{Session: p.Session, ID: a.ID, Attempt: a.Attempt, Result: Result{Verb: Succeeded}}) {
					if w, ok := e.(WriteOutcome); ok {
						b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 9999})
					}
				}
			}
		}
	}
	if n > 2 {
		t.Errorf("%d handed out within some ms at a rate of one in 100 s", n)
	}
}

// TestARaisedRateTakesEffect: a rate that was too low once binds nobody after it was raised.
func TestARaisedRateTakesEffect(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1000))
	b.pass(time.Hour)
	b.submit("a", Policy{Rate: 0.00001}, nil)
	out := b.pass(0)
	b.accept(out, "a")
	b.submit("b", Policy{Rate: 1000}, nil)
	n := 0
	for range 100 {
		n += len(handedOut(b.pass(time.Minute)))
	}
	if n == 0 {
		t.Errorf("not handed out for 100 minutes at a rate of 1000/s")
	}
}

// TestCheckpointsAreStoredInOrder: while a checkpoint is being written, the next one is not, so
// that no late copy of the one can take the place of the other under the same seal. It follows when
// the first is known to be stored.
func TestCheckpointsAreStoredInOrder(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	b.submit("x", Policy{}, nil)
	p, _ := find[Assign](b.pass(0))
	a := p.List[0].Attempt
	b.accept([]Effect{p})
	first, ok := find[WriteCheckpoint](b.step(Progressed{
		Session: 200, ID: "x", Attempt: a, Ran: 1,
		Checkpoint: []byte("one"), Ref: 1,
	}))
	if !ok || first.Guard == 0 {
		t.Fatalf("%+v", first)
	}
	// The connection is lost, and that is still to be told: what is written now would go along
	// another one.
	if early := b.step(Progressed{
		Session: 200, ID: "x", Attempt: a, Ran: 2, Checkpoint: []byte("two"),
		Ref: 2,
	}); len(early) != 0 {
		t.Fatalf("%+v", early)
	}
	b.step(Reconnected{})
	again, ok := find[WriteCheckpoint](b.step(SealSeen{Revision: 102, Epoch: 100, Ours: true}))
	if !ok || string(again.Data) != "one" || again.Guard != 102 {
		t.Fatalf("%+v", again)
	}
	second, ok := find[WriteCheckpoint](b.step(Written{Write: again.Write, Outcome: record.Won, Revision: 103}))
	if !ok || string(second.Data) != "two" || second.Guard != 102 {
		t.Fatalf("%+v", second)
	}
	settled, ok := find[Settle](b.step(Written{Write: second.Write, Outcome: record.Won, Revision: 104}))
	if !ok || settled.Ref != 2 || settled.Stale {
		t.Errorf("%+v", settled)
	}
}

// TestSnoozedForEver: a wait that no clock can hold is a long one, not none.
func TestSnoozedForEver(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	b.submit("x", Policy{}, nil)
	n := 0
	for range 50 {
		p, ok := find[Assign](b.pass(time.Millisecond))
		if !ok {
			break
		}
		n++
		b.accept([]Effect{p})
		w, _ := find[WriteNote](b.s.Step(b.now, Done{
			Session: 200, ID: "x", Attempt: p.List[0].Attempt,
			Result: Result{Verb: Snoozed, Delay: math.MaxInt64},
		}, nil))
		b.s.Step(b.now, Written{Write: w.Write, Outcome: record.Won, Revision: 103}, nil)
	}
	if n > 1 {
		t.Errorf("ran %d times in %d ms", n, n)
	}
}

// TestAgingDoesNotOverflow: an aging step of years leaves priorities as they are.
func TestAgingDoesNotOverflow(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{AgingStep: 10 * 365 * 24 * time.Hour})
	b.submit("low", Policy{Priority: -100}, nil)
	b.submit("high", Policy{Priority: 100}, nil)
	b.submit("mid", Policy{Priority: 50}, nil)
	b.submit("mid2", Policy{Priority: 40}, nil)
	b.submit("zero", Policy{}, nil)
	got := handedOut(b.step(Members{List: []Member{idle(200, 100)}}))
	t.Log(got)
	if fmt.Sprint(got) != "[high@w200 mid@w200 mid2@w200 zero@w200 low@w200]" {
		t.Errorf("order %v", got)
	}
}

// TestASlowTickIsNoLoop: while a tick is being stored no time is wanted for the next one.
func TestASlowTickIsNoLoop(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(recurring.CatchUpLatest), Since: at(0, 10)})
	b.wall(at(1, 0)) // under way
	b.wall(at(2, 0))
	n := 0
	for range 100 {
		if b.s.Next(b.now) == 0 {
			n++
		}
		b.wall(at(2, 1))
	}
	if n > 5 {
		t.Errorf("%d of 100 times a Tick is wanted at once", n)
	}
}

// TestWaitersForOneWriteAreBounded: a worker that reports without end fills no memory.
func TestWaitersForOneWriteAreBounded(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	b.submit("x", Policy{}, nil)
	p, _ := find[Assign](b.pass(0))
	b.accept([]Effect{p})
	for i := range 100_000 {
		b.s.Step(b.now, Done{Session: 200, ID: "x", Attempt: p.List[0].Attempt, Result: Result{Verb: Succeeded}, Ref: i}, nil)
	}
	if n := len(b.s.tasks.get("x").run.write.refs); n > 100 {
		t.Errorf("%d wait for one write", n)
	}
}

// TestAnUnreadableDefinitionKeepsItsLastTick, so that a scheduler that can read it does not fire
// again what was fired.
func TestAnUnreadableDefinitionKeepsItsLastTick(t *testing.T) {
	b := newDriver(t)
	b.step(Fired{Name: "r", Revision: 3, Tick: at(10, 0)})
	b.step(Defined{Name: "r", Revision: 4, Unreadable: true, Since: at(0, 0)})
	b.step(CaughtUp{})
	if e, erased := find[Erase](b.seal(6)); erased {
		t.Errorf("%+v", e)
	}
	if e, erased := find[Erase](b.step(Defined{Name: "r", Revision: 7, Since: at(0, 0)})); !erased ||
		e.What != TickRecord {
		t.Errorf("removed for good, and %+v", e)
	}
}

// TestAnAssignmentThatWasNeverSent makes room for the others, and is tried again later; what may
// have been sent stays with its worker.
func TestAnAssignmentThatWasNeverSent(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	b.submit("x", Policy{}, nil)
	p, _ := find[Assign](b.pass(0))
	unsent := func(p Assign) Answered {
		return Answered{200, p.Frame, []Answer{{"x", p.List[0].Attempt, Unsent}}}
	}
	b.step(unsent(p))
	b.submit("next", Policy{}, nil)
	if next, ok := find[Assign](b.pass(0)); !ok || next.List[0].ID != "next" {
		t.Errorf("%+v", next)
	} else {
		b.step(Answered{200, next.Frame, []Answer{{"next", next.List[0].Attempt, Accepted}}})
	}
	again, ok := find[Assign](b.pass(time.Minute))
	if !ok || again.List[0].ID != "x" {
		t.Fatalf("%+v", again)
	}
	more, ok := find[Assign](b.pass(time.Minute)) // no answer: once more, and now it may be there
	if !ok {
		t.Fatal("not pushed again")
	}
	b.step(unsent(more))
	if g, _ := b.s.TaskInfo(b.now, "x"); g.State != StateRunning {
		t.Errorf("%+v", g)
	}
}

// TestWhatCannotBeSentIsNoLoop, also when it is noted that it is about to begin.
func TestWhatCannotBeSentIsNoLoop(t *testing.T) {
	b := newDriver(t)
	b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
	b.step(SealSeen{Revision: 2, Epoch: 50}) // the scheduler before did not end cleanly
	b.step(CaughtUp{})
	m := member(200)
	m.Own = true
	b.step(Members{List: []Member{m}})
	effects := b.seal(9)
	pushes := 0
	for range 100 {
		if n, ok := find[WriteNote](effects); ok {
			effects = b.step(Written{Write: n.Write, Outcome: record.Won, Revision: 10})
		} else if p, ok := find[Assign](effects); ok {
			pushes++
			effects = b.step(Answered{200, p.Frame, []Answer{{"x", p.List[0].Attempt, Unsent}}})
		} else {
			effects = b.pass(10 * time.Millisecond)
		}
	}
	if pushes != 1 {
		t.Errorf("pushed %d times within a second", pushes)
	}
}
