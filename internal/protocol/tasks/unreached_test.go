package tasks

import (
	"testing"
	"time"
)

// TestNobodyHears: what was pushed to nobody goes to others at once, and counts for nothing. The
// worker, and each later session of its instance, is given nothing until it answers. It is asked at
// growing intervals, and told of as long as it lives.
func TestNobodyHears(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{LossTime: time.Second}, idle(200, 2))
	b.submit("x", Policy{}, nil)
	p, _ := find[Assign](b.pass(0))
	b.step(NoResponder{Session: 200, Frame: p.Frame})
	if g, _ := b.s.TaskInfo(b.now, "x"); g.State != StatePending || g.Reason != ReasonUnreachable || g.Tries != 0 {
		t.Errorf("after it was pushed to nobody: %+v", g)
	}
	o := b.s.Overview()
	if len(o.Workers) != 1 || !o.Workers[0].Unreachable || o.Workers[0].Told || o.Workers[0].Load != 0 {
		t.Errorf("overview: %+v", o.Workers)
	}
	asked, told := 0, 0
	for range 3000 {
		out := b.pass(10 * time.Millisecond)
		expect(t, "to a worker that hears nothing", handedOut(out))
		asked += len(findAll[Sync](out))
		for _, e := range findAll[Unreached](out) {
			if told++; e.Instance != "w200" || e.Times != told || e.Held != 0 {
				t.Errorf("told %d times, of %+v", told, e)
			}
		}
		if len(findAll[Unanswered](out)) > 0 {
			t.Error("it is to be ended: it owes nothing")
		}
	}
	if o := b.s.Overview(); !o.Workers[0].Told {
		t.Errorf("overview after 30 s: %+v", o.Workers)
	}
	if asked < 8 || asked > 16 || told < 3 || told > 6 {
		t.Errorf("asked %d times and told of %d times in 30 s", asked, told)
	}

	next := idle(201, 2)
	next.Instance = "w200"
	out := b.step(Members{List: []Member{idle(200, 2), next}})
	expect(t, "to its next session", handedOut(out))
	if q, ok := find[Sync](out); !ok || q.Session != 201 {
		t.Errorf("its next session is not asked at once: %+v", out)
	}
	b.step(Dead{Session: 200, Closed: true})
	expect(t, "once it has answered", handedOut(b.step(Synced{Session: 201})), "x@w200")
}

// TestSomebodyMayHaveHeard: as long as one frame may have been heard, what is in it goes to nobody
// else.
func TestSomebodyMayHaveHeard(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 2))
	b.submit("x", Policy{}, nil)
	first, _ := find[Assign](b.pass(0))
	second, ok := find[Assign](b.pass(200 * time.Millisecond))
	if !ok {
		t.Fatal("it is not pushed again")
	}
	b.step(Members{List: []Member{idle(200, 2), idle(201, 2)}})
	expect(t, "after the second frame has missed", handedOut(b.step(NoResponder{Session: 200, Frame: second.Frame})))
	expect(t, "after that was said twice", handedOut(b.step(NoResponder{Session: 200, Frame: second.Frame})))
	expect(t, "after both have missed", handedOut(b.step(NoResponder{Session: 200, Frame: first.Frame})), "x@w201")
}

// TestALateRefusal: that nobody has heard a former frame says nothing of the present one.
func TestALateRefusal(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 2))
	b.submit("x", Policy{}, nil)
	b.pass(0)
	late, _ := find[Assign](b.pass(200 * time.Millisecond))
	b.accept([]Effect{late})
	b.submit("y", Policy{}, nil)
	b.pass(0)
	b.step(NoResponder{Session: 200, Frame: late.Frame})
	if g, _ := b.s.TaskInfo(b.now, "y"); g.State != StateRunning || g.Instance != "w200" {
		t.Errorf("it was taken from its worker: %+v", g)
	}
}

// TestSilenceIsUnreached: a worker that has answered nothing for long counts as not reached, also
// where somebody else listens to what it is sent. It may have heard that, and so keeps its tasks.
func TestSilenceIsUnreached(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{Silence: 400 * time.Millisecond, LossTime: time.Second}, idle(200, 2))
	b.submit("x", Policy{}, nil)
	b.pass(0)
	var told []Unreached
	for range 200 {
		told = append(told, findAll[Unreached](b.pass(10*time.Millisecond))...)
	}
	if len(told) != 1 || told[0].Held != 1 {
		t.Errorf("told of %+v", told)
	}
	if o := b.s.Overview(); !o.Workers[0].Unreachable {
		t.Errorf("overview: %+v", o.Workers)
	}
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Instance != "w200" {
		t.Errorf("it was taken from its worker: %+v", g)
	}
	late, _ := find[Assign](b.pass(10 * time.Second))
	b.accept([]Effect{late})
	if o := b.s.Overview(); o.Workers[0].Unreachable {
		t.Error("it has answered")
	}
}
