package tasks

import (
	"fmt"
	"testing"
	"time"
)

// built is a member with one slot and a build.
func built(session uint64, build string) Member {
	m := member(session)
	m.Build = build
	return m
}

// rejects has the workers of a frame say that they cannot decode its tasks.
func (b *driver) rejects(effects []Effect) (more []Effect) {
	b.t.Helper()
	p, ok := find[Assign](effects)
	if !ok {
		b.t.Fatalf("nothing is handed out: %+v", effects)
	}
	b.accept(effects)
	a := &p.List[0]
	return b.step(Done{
		Session: p.Session, ID: a.ID, Attempt: a.Attempt,
		Result: Result{Verb: Undecodable, Body: "no such field"},
	})
}

// TestAnotherBuildTriesFirst: what a worker cannot decode goes to one of another build, uncounted,
// and waits for it as long as it is only busy. Those of the same build are not asked.
func TestAnotherBuildTriesFirst(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, built(200, "old"), built(201, "old"), built(202, "new"))
	b.submit("busy", Policy{}, nil)
	effects := b.pass(0)
	p, _ := find[Assign](effects)
	if p.Session != 200 {
		t.Fatalf("%+v", p)
	}
	b.accept(effects)
	b.step(Members{List: []Member{built(200, "new"), built(201, "old")}})
	b.step(Dead{Session: 202, Closed: true})
	b.submit("x", Policy{}, nil)
	effects = b.pass(0)
	expect(t, "the old one has room", handedOut(effects), "x@w201")
	effects = b.rejects(effects)
	if r, ok := find[Rejected](effects); !ok || r.Verdict != Undecoded || r.Instance != "w201" {
		t.Errorf("%+v", effects)
	}
	if n, ok := find[WriteNote](effects); ok {
		t.Errorf("it counts, though another worker may decode it: %+v", n)
	}
	expect(t, "the new one is busy", handedOut(b.pass(10*time.Minute)))
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Reason != ReasonBusy || g.Tries != 0 {
		t.Errorf("%+v", g)
	}
	expect(t, "it has room", handedOut(b.step(Done{
		Session: 200, ID: "busy", Attempt: p.List[0].Attempt, Result: Result{Verb: Succeeded},
	})), "x@w200")
}

// TestAnotherBuildIsOutOfReach: its worker is waited for, and the rejection counts once messages
// have not reached that worker for a minute.
func TestAnotherBuildIsOutOfReach(t *testing.T) {
	for _, answers := range []bool{true, false} {
		b := readyDriver(t, SchedulerConfig{}, built(200, "new"))
		b.submit("x", Policy{}, nil)
		lost, _ := find[Assign](b.pass(0))
		b.step(NoResponder{Session: 200, Frame: lost.Frame})
		effects := b.step(Members{List: []Member{built(200, "new"), built(201, "old")}})
		expect(t, "the old one is reached", handedOut(effects), "x@w201")
		if n, ok := find[WriteNote](b.rejects(effects)); ok {
			t.Errorf("it counts, though a worker of another build lives: %+v", n)
		}
		if answers {
			expect(t, "once it has answered", handedOut(b.step(Synced{Session: 200})), "x@w200")
			continue
		}
		b.pass(time.Second)
		if n, ok := find[WriteNote](b.pass(time.Minute)); !ok || n.Retry.Failures != 1 {
			t.Errorf("after a minute: %+v, %t", n, ok)
		}
	}
}

// TestNobodyCanDecodeIt: when each build has rejected it, it has failed, and waits for another
// build, each minute of which is one more failure. Its attempts have a bound.
func TestNobodyCanDecodeIt(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, built(200, "old"), built(201, "old"))
	b.submit("x", Policy{}, nil)
	effects := b.rejects(b.pass(0))
	n, ok := find[WriteNote](effects)
	if !ok || n.Retry.Failures != 1 || n.Retry.Wait < 900*time.Millisecond {
		t.Fatalf("%+v", effects)
	}
	b.storeAll(effects)
	expect(t, "nobody is asked again", handedOut(b.pass(2*time.Second)))
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Reason != ReasonUndecodable {
		t.Errorf("it waits for %q", g.Reason)
	}
	if next := b.s.Next(b.now); next > time.Minute || next < 57*time.Second {
		t.Errorf("it looks again in %v", next)
	}
	effects = b.pass(time.Minute)
	if n, ok := find[WriteNote](effects); !ok || n.Retry.Failures != 2 {
		t.Fatalf("after a minute: %+v", effects)
	}
	b.storeAll(effects)
	b.pass(3 * time.Second)
	effects = b.pass(time.Minute)
	w, ok := find[WriteOutcome](effects)
	if !ok || w.Outcome.Status != StatusDead || w.Outcome.Cause != CauseUndecodable || w.Outcome.Tries != 3 ||
		w.Outcome.Body != "no such field" {
		t.Fatalf("after MaxAttempts: %+v", effects)
	}
	b.storeAll(effects)
	if len(b.s.undecoded)+len(b.s.lonely) > 0 {
		t.Errorf("left over: %v, %v", b.s.undecoded, b.s.lonely)
	}
}

// TestAnotherBuildComes: it is given the task at once.
func TestAnotherBuildComes(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, built(200, "old"))
	b.submit("x", Policy{}, nil)
	b.storeAll(b.rejects(b.pass(0)))
	b.pass(2 * time.Second)
	expect(t, "later", handedOut(b.step(Members{List: []Member{built(300, "new")}})), "x@w300")
}

// TestThreeRejectionsAreAFailure, however many other builds there are; and attempts have a bound.
func TestThreeRejectionsAreAFailure(t *testing.T) {
	var all []Member
	for i := range 9 {
		all = append(all, built(uint64(200+i), fmt.Sprint("build", i)))
	}
	b := readyDriver(t, SchedulerConfig{}, all...)
	b.submit("x", Policy{}, nil)
	effects := b.pass(0)
	for i := 1; i <= 3; i++ {
		effects = b.rejects(effects)
		if n, ok := find[WriteNote](effects); ok != (i == 3) || ok && n.Retry.Failures != 1 {
			t.Fatalf("after %d rejections: %+v", i, effects)
		}
	}
	b.s.tasks.get("x").failures = maxUndecoded - 2
	b.s.tasks.get("x").policy.MaxAttempts = 10_000
	b.storeAll(effects)
	effects = b.pass(time.Hour)
	for range 3 {
		effects = b.rejects(effects)
	}
	if _, ok := find[WriteNote](effects); !ok {
		t.Fatalf("%+v", effects)
	}
	b.storeAll(effects)
	effects = b.pass(time.Hour)
	for range 3 {
		effects = b.rejects(effects)
	}
	if w, ok := find[WriteOutcome](effects); !ok || w.Outcome.Cause != CauseUndecodable {
		t.Fatalf("%+v", effects)
	}
}
