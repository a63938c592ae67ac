package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// storeAll answers every write among effects, and returns what comes of it.
func (b *driver) storeAll(effects []Effect) (more []Effect) {
	for _, e := range effects {
		number := uint64(0)
		switch e := e.(type) {
		case WriteOutcome:
			number = e.Write
		case WriteNote:
			number = e.Write
		case WriteCheckpoint:
			number = e.Write
		case WriteTick:
			number = e.Write
		default:
			continue
		}
		b.revision++
		more = append(more, b.step(Written{Write: number, Outcome: record.Won, Revision: b.revision})...)
	}
	return more
}

func TestConcurrencyOfAKind(t *testing.T) {
	m := idle(200, 10)
	m.Kinds = []string{"k", "free"}
	b := readyDriver(t, SchedulerConfig{}, m)
	b.submit("t1", Policy{Concurrency: 5}, nil)
	for i := 2; i <= 5; i++ {
		b.submit(fmt.Sprint("t", i), Policy{Concurrency: 2}, nil) // the newest submission's counts
	}
	b.submit("other", Policy{Kind: "free"}, nil)
	first := b.pass(0)
	expect(t, "two of them, and nobody else is kept back", handedOut(first), "t1@w200", "t2@w200", "other@w200")
	expect(t, "one has ended", handedOut(b.accept(first, "t1")), "t3@w200")
}

func TestRateOfAKind(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 100))
	ready := b.now
	for i := range 40 {
		b.submit(fmt.Sprint("t", i), Policy{Rate: 10}, nil)
	}
	n := 0
	count := func(effects []Effect) {
		for _, e := range effects {
			if p, ok := e.(Assign); ok {
				n += len(p.List)
				for _, a := range p.List {
					b.s.Step(b.now, Answered{p.Session, p.Frame, []Answer{{a.ID, a.Attempt, Accepted}}}, nil)
				}
			}
		}
		if most := int(b.now.Sub(ready).Seconds()*10) + 1; n > most {
			t.Fatalf("%d within %v", n, b.now.Sub(ready))
		}
	}
	count(b.pass(0))
	if n != 0 {
		t.Errorf("%d at once: what was handed out before it was ready is not known", n)
	}
	for range 100 {
		next := b.s.Next(b.now)
		if next > time.Second {
			break
		}
		count(b.pass(max(next, time.Millisecond)))
	}
	if passed := b.now.Sub(ready); n != 40 || passed > 4200*time.Millisecond {
		t.Errorf("%d within %v", n, passed)
	}
}

// TestAKindThatIsNewMayBegin: only right after a fail-over is it not known what was handed out
// before.
func TestAKindThatIsNewMayBegin(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 100))
	b.pass(time.Hour)
	b.submit("t", Policy{Rate: 0.1}, nil)
	expect(t, "at once", handedOut(b.pass(0)), "t@w200")
}

func TestLimitOfAKey(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	for i := range 5 {
		b.submit(fmt.Sprint("a", i), Policy{KeyLimit: 2}, &Keys{Limit: "a"})
	}
	b.submit("b", Policy{KeyLimit: 1}, &Keys{Limit: "b"})
	b.submit("free", Policy{}, nil)
	first := b.pass(0)
	expect(t, "two of a key, and nobody is behind those set aside", handedOut(first), "a0@w200", "a1@w200", "b@w200",
		"free@w200")
	if v := b.s.Overview().Kinds[0]; v.Waiting != 3 || v.Running != 4 {
		t.Errorf("%+v", v)
	}
	b.step(CancelAsked{ID: "a2", Revision: 1000})
	more := b.accept(first, "a0")
	expect(t, "the next one", handedOut(more), "a3@w200")
	more = b.accept(more, "a3")
	expect(t, "and the next", handedOut(more), "a4@w200")
	b.accept(more, "a4")
	b.step(Done{Session: 200, ID: "a1", Attempt: Attempt{100, 1}, Result: Result{Verb: Succeeded}})
	if l := b.s.limits["a"]; l != nil && (l.running != 0 || len(l.subqueues) != 0) {
		t.Errorf("left: %+v", l)
	}
}

// TestAPriorityWithinAKey: what was parked does not go before what is more urgent and came later.
func TestAPriorityWithinAKey(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	for i := range 3 {
		b.submit(fmt.Sprint("t", i), Policy{KeyLimit: 1}, &Keys{Limit: "a"})
	}
	first := b.pass(0)
	b.submit("urgent", Policy{KeyLimit: 1, Priority: 9}, &Keys{Limit: "a"})
	expect(t, "next", handedOut(b.accept(first, "t0")), "urgent@w200")
}

// TestVeryManyOfOneKey: setting them aside is spread over several rounds, and the others are not
// forgotten.
func TestVeryManyOfOneKey(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	for i := range maxParked + 100 {
		b.submit(fmt.Sprint("a", i), Policy{KeyLimit: 1}, &Keys{Limit: "a"})
	}
	b.submit("last", Policy{}, nil)
	b.pass(0)
	if next := b.s.Next(b.now); next != 0 {
		t.Fatalf("it continues in %v", next)
	}
	b.s.workers[200].answered()
	expect(t, "the second round", handedOut(b.pass(0)), "last@w200")
}
