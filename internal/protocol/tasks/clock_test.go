package tasks

import (
	"testing"
	"time"
)

// sealAt shows two seals of ours, the second at revision, stored at a time of the stream's clock.
func (b *driver) sealAt(revision uint64, stored time.Time) []Effect {
	b.t.Helper()
	b.step(SealSeen{Revision: revision - 1, Stored: stored, Epoch: 100, Ours: true})
	return b.step(SealSeen{Revision: revision, Stored: stored, Epoch: 100, Ours: true})
}

// TestTheStreamsClockCounts: however wrong the local clock is, before our seal and after.
func TestTheStreamsClockCounts(t *testing.T) {
	for name, wrong := range map[string]time.Duration{
		"right": 0, "ahead": 5 * time.Hour, "years ahead": 50_000 * time.Hour, "behind": -5 * time.Hour,
		"years behind": -50_000 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			b := newDriver(t)
			local := func(at time.Time) []Effect {
				b.now = b.now.Add(time.Millisecond)
				return b.s.Step(b.now, Tick{Wall: at.Add(wrong)}, nil)
			}
			submit := func(id string, revision uint64, stored time.Time, times Times) {
				b.s.Step(b.now, Submitted{ID: id, Revision: revision, Stored: stored, Policy: policy, Times: times}, nil)
			}
			local(at(0, 0))
			submit("due", 1, at(-2, 0), Times{Delay: time.Minute})
			submit("delayed", 2, at(-2, 0), Times{Delay: 3 * time.Minute})
			submit("expiring", 3, at(-2, 0), Times{Delay: time.Hour, Deadline: 3 * time.Minute})
			submit("expired", 4, at(-2, 0), Times{Delay: time.Hour, Deadline: time.Minute})
			submit("noted", 5, at(-2, 0), Times{})
			b.s.Step(b.now, Noted{
				ID: "noted", Revision: 6, Stored: at(-1, 30),
				Retry: Retry{Attempt: Attempt{50, 1}, Failures: 1, Wait: time.Minute},
			}, nil)
			submit("noted long ago", 7, at(-9, 0), Times{})
			b.s.Step(b.now, Noted{
				ID: "noted long ago", Revision: 8, Stored: at(-8, 0),
				Retry: Retry{Attempt: Attempt{50, 1}, Failures: 1, Wait: time.Second},
			}, nil)
			local(at(0, 0))
			b.step(CaughtUp{})
			b.step(Members{List: []Member{idle(200, 10)}})
			first := b.sealAt(10, at(0, 0))
			expect(t, "what is due", handedOut(first), "noted long ago@w200", "due@w200")
			if w := findAll[WriteOutcome](first); len(w) != 1 || w[0].ID != "expired" || w[0].Outcome.Status != StatusExpired {
				t.Errorf("expired: %+v", w)
			}
			b.accept(first)
			if g, _ := b.s.TaskInfo(b.now, "delayed"); g.Age.Round(time.Second) != 2*time.Minute ||
				g.Due.Round(time.Second) != time.Minute || g.State != StateDelayed {
				t.Errorf("%+v", g)
			}
			b.now = b.now.Add(28 * time.Second)
			if early := local(at(0, 28)); len(early) > 0 {
				t.Errorf("at 28 s: %+v", early)
			}
			b.now = b.now.Add(4 * time.Second)
			second := local(at(0, 32).Add(7 * time.Hour)) // it jumps, and nobody cares
			expect(t, "at 32 s", handedOut(second), "noted@w200")
			b.accept(second)
			submit("fresh", 20, at(0, 32), Times{Delay: time.Second})
			if next := b.s.Next(b.now); next <= 0 || next > time.Second {
				t.Errorf("the next in %v", next)
			}
			b.now = b.now.Add(40 * time.Second)
			third := local(at(1, 12))
			expect(t, "after the minute", handedOut(third), "fresh@w200", "delayed@w200")
			if w := findAll[WriteOutcome](third); len(w) != 1 || w[0].ID != "expiring" {
				t.Errorf("expired: %+v", w)
			}
		})
	}
}

// TestTheTimeIsToldAnew by a seal now and then, so that two clocks that drift apart do so for an
// hour at most.
func TestTheTimeIsToldAnew(t *testing.T) {
	b := newDriver(t)
	b.step(CaughtUp{})
	b.step(Members{})
	b.sealAt(2, at(0, 0))
	if next := b.s.Next(b.now); next > time.Hour || next < time.Hour-time.Minute {
		t.Errorf("it wakes up in %v", next)
	}
	w, ok := find[WriteSeal](b.pass(time.Hour))
	if !ok || w.Expect != 2 {
		t.Fatalf("%+v", w)
	}
	b.step(SealSeen{Revision: 3, Stored: at(61, 0), Epoch: 100, Ours: true}) // a minute faster than ours
	p := Policy{Kind: "k", MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Minute}
	b.step(Submitted{ID: "x", Revision: 4, Stored: at(61, 0), Policy: &p})
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Age < 0 || g.Age > time.Second {
		t.Errorf("%v old", g.Age)
	}
	if w, again := find[WriteSeal](b.pass(time.Minute)); again {
		t.Errorf("%+v", w)
	}
	// The stream's clock is put forward, or another server leads it: a record shows that.
	effects := b.step(Submitted{ID: "y", Revision: 5, Stored: at(300, 0), Policy: &p})
	if _, again := find[WriteSeal](effects); !again {
		t.Error("the clock is hours behind, and nobody asks")
	}
	b.step(SealSeen{Revision: 6, Stored: at(301, 0), Epoch: 100, Ours: true})
	if g, _ := b.s.TaskInfo(b.now, "y"); g.Age.Round(time.Second) != time.Minute || g.State != StatePending {
		t.Errorf("%+v", g)
	}
}

// TestTheStreamsClockIsPutBack: what is submitted from then on neither runs nor expires before its
// time, from the first one on, and one more seal tells what time it is.
func TestTheStreamsClockIsPutBack(t *testing.T) {
	b := newDriver(t)
	b.step(CaughtUp{})
	b.step(Members{List: []Member{idle(200, 10)}})
	b.sealAt(2, at(30, 0))
	p := Policy{Kind: "k", MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Minute}
	effects := b.step(Submitted{
		ID: "short", Revision: 3, Stored: at(0, 0), Policy: &p,
		Times: Times{Delay: 5 * time.Second, Deadline: 10 * time.Second},
	})
	if len(handedOut(effects)) > 0 || len(findAll[WriteOutcome](effects)) > 0 {
		t.Fatalf("before its time: %+v", effects)
	}
	if early := b.pass(4 * time.Second); len(early) > 0 {
		t.Errorf("after 4 s: %+v", early)
	}
	effects = b.pass(time.Second)
	expect(t, "after 5 s", handedOut(effects), "short@w200")
	b.accept(effects)
	if early := findAll[WriteOutcome](b.pass(4 * time.Second)); len(early) > 0 {
		t.Errorf("after 9 s: %+v", early)
	}
	effects = b.pass(time.Second)
	if w := findAll[WriteOutcome](effects); len(w) != 1 || w[0].Outcome.Status != StatusExpired {
		t.Errorf("after 10 s: %+v", w)
	}
	effects = b.pass(time.Minute)
	if _, asks := find[WriteSeal](effects); !asks {
		t.Errorf("nobody asks what time it is: %+v", effects)
	}
}

// TestARecordThatComesLate: as long as nothing newer comes the clock may be behind, by as much; the
// next record that comes in time shows that it was, and a seal does in any case.
func TestARecordThatComesLate(t *testing.T) {
	for _, newer := range []bool{true, false} {
		b := newDriver(t)
		b.step(CaughtUp{})
		b.step(Members{})
		b.sealAt(2, at(0, 0))
		p := Policy{Kind: "k", MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Minute}
		b.pass(40 * time.Second)
		b.step(Submitted{ID: "late", Revision: 3, Stored: at(0, 0), Policy: &p})
		age := func(id string) time.Duration {
			g, _ := b.s.TaskInfo(b.now, id)
			return g.Age.Round(time.Second)
		}
		if a := age("late"); a != 0 {
			t.Errorf("it is %v old, and what came last was stored then", a)
		}
		if newer {
			b.step(Submitted{ID: "in time", Revision: 4, Stored: at(0, 40), Policy: &p})
			if a := age("late"); a != 40*time.Second {
				t.Errorf("it is %v old, and has come 40 s late", a)
			}
			if a := age("in time"); a != 0 {
				t.Errorf("it is %v old", a)
			}
		}
		if _, asks := find[WriteSeal](b.pass(20 * time.Second)); !asks {
			t.Error("nobody asks what time it is")
		}
		b.step(SealSeen{Revision: 5, Stored: at(1, 0), Epoch: 100, Ours: true})
		if a := age("late"); a != time.Minute {
			t.Errorf("newer %t: it is %v old after a minute", newer, a)
		}
		if _, again := find[WriteSeal](b.pass(2 * time.Minute)); again {
			t.Error("it is asked again")
		}
	}
}
