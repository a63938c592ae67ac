package tasks

import (
	"slices"
	"testing"
	"time"
)

// onHost is a worker of a host.
func onHost(session uint64, slots int, host string) Member {
	m := idle(session, slots)
	m.Shares = []string{"host " + host, "zone north"}
	if host == "" {
		m.Shares = nil
	}
	return m
}

// loseBoth has two workers run two tasks each and be lost, the second some time after the first.
func loseBoth(t *testing.T, host, other string, between time.Duration) *driver {
	t.Helper()
	b := readyDriver(t, SchedulerConfig{LossTime: 5 * time.Second}, onHost(200, 2, host), onHost(201, 2, other))
	for _, id := range []string{"a", "b", "c", "d"} {
		b.submit(id, Policy{CrashBudget: 2}, nil)
	}
	b.accept(b.pass(0))
	b.pass(3 * time.Second)
	b.storeAll(b.step(Dead{Session: 200}))
	b.pass(between)
	b.storeAll(b.step(Dead{Session: 201}))
	return b
}

// TestALostHostMakesNoSuspects: neither of what ran on the worker that was known to be lost first,
// nor of what ran on the second.
func TestALostHostMakesNoSuspects(t *testing.T) {
	for name, c := range map[string]struct {
		host, other string
		between     time.Duration
		suspects    int
	}{
		"one host":          {"x", "x", 4 * time.Second, 0},
		"one zone":          {"x", "y", 4 * time.Second, 0},
		"nothing in common": {"x", "", time.Second, 4},
		"long after":        {"x", "x", 6 * time.Second, 4},
	} {
		b := loseBoth(t, c.host, c.other, c.between)
		if n := len(b.s.suspects); n != c.suspects {
			t.Errorf("%s: %d suspects: %+v", name, n, b.s.suspects)
		}
		if c.suspects > 0 {
			continue
		}
		b.pass(b.s.cfg.AnswerTime)
		effects := b.step(Members{List: []Member{onHost(300, 4, "z")}})
		expect(t, name, slices.Sorted(slices.Values(handedOut(effects))), "a@w300", "b@w300", "c@w300", "d@w300")
		for _, id := range []string{"a", "b", "c", "d"} {
			if g, _ := b.s.TaskInfo(b.now, id); g.Tries != 2 {
				t.Errorf("%s: %s runs for the %dth time", name, id, g.Tries)
			}
		}
	}
}

// TestWhatBeganLaterIsNotExcused: what took the first worker down may have taken down the second,
// which was given it then.
func TestWhatBeganLaterIsNotExcused(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{LossTime: 5 * time.Second}, onHost(200, 1, "x"), onHost(201, 1, "x"),
		onHost(202, 1, "x"))
	b.submit("poison", Policy{}, nil)
	effects := b.pass(0)
	for losses := 1; losses <= 3; losses++ {
		p, ok := find[Assign](effects)
		if !ok {
			t.Fatalf("after %d losses: %+v", losses-1, effects)
		}
		b.accept([]Effect{p})
		b.pass(time.Millisecond)
		effects = b.step(Dead{Session: p.Session})
		if w, dead := find[WriteOutcome](effects); dead != (losses == 3) {
			t.Errorf("after %d losses: %+v", losses, w)
		}
		effects = append(b.storeAll(effects), b.pass(time.Millisecond)...)
	}
}

// TestAHostThatIsLostTwice: soon after each other.
func TestAHostThatIsLostTwice(t *testing.T) {
	b := loseBoth(t, "x", "x", time.Millisecond)
	both := []Member{onHost(300, 2, "x"), onHost(301, 2, "x")}
	b.accept(b.step(Members{List: both}))
	b.pass(time.Second)
	for _, m := range both {
		b.storeAll(b.step(Dead{Session: m.Session}))
	}
	if len(b.s.suspects) > 0 {
		t.Errorf("%+v", b.s.suspects)
	}
}

// TestATaskThatLosesHostsIsNotExcusedForEver: it may be what takes them down.
func TestATaskThatLosesHostsIsNotExcusedForEver(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{LossTime: 5 * time.Second})
	b.submit("x", Policy{CrashBudget: 2}, nil)
	for losses, session := 1, uint64(300); ; losses, session = losses+1, session+2 {
		b.accept(b.step(Members{List: []Member{onHost(session, 1, "h")}}))
		b.step(Members{List: []Member{onHost(session, 1, "h"), onHost(session+1, 1, "h")}})
		b.pass(time.Second)
		b.storeAll(b.step(Dead{Session: session + 1})) // it has run nothing
		effects := b.step(Dead{Session: session})
		_, dead := find[WriteOutcome](effects)
		if dead || losses > 5 {
			if losses != 4 { // excused twice, blamed once
				t.Errorf("dead: %t, after %d losses", dead, losses)
			}
			return
		}
		if x, held := b.s.suspects["x"]; held != (losses > 2) {
			t.Errorf("after %d losses: %+v", losses, x)
		}
		b.storeAll(effects)
		b.pass(time.Minute)
	}
}

// TestNothingComesBesideWhatANoteSaysRunsAlone: also when its suspicion would be taken back.
func TestNothingComesBesideWhatANoteSaysRunsAlone(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{LossTime: time.Minute}, onHost(200, 2, "x"), onHost(201, 2, "x"))
	for _, id := range []string{"a", "b", "c"} {
		b.submit(id, Policy{CrashBudget: 1}, nil)
	}
	b.accept(b.pass(0))
	b.pass(time.Second)
	b.storeAll(b.step(Dead{Session: 200})) // it ran two of them
	own := idle(300, 8)
	own.Own = true
	noted := b.storeAll(b.step(Members{List: []Member{onHost(201, 2, "x"), own}}))
	expect(t, "alone", handedOut(noted), "a@w300")
	b.accept(noted)
	b.submit("later", Policy{}, nil)
	effects := b.storeAll(append(b.step(Dead{Session: 201}), b.pass(time.Millisecond)...))
	expect(t, "beside it", handedOut(effects))
	effects = b.step(Done{
		Session: 300, ID: "a", Attempt: b.s.tasks.get("a").attempt, Result: Result{Verb: Succeeded},
	})
	expect(t, "after it", slices.Sorted(slices.Values(handedOut(b.storeAll(effects)))), "b@w300", "later@w300")
}
