package tasks

import (
	"fmt"
	"testing"
	"time"
)

// TestAStopSaysHowItsTaskHasEnded, if the state has it.
func TestAStopSaysHowItsTaskHasEnded(t *testing.T) {
	running := func(t *testing.T, times Times) *driver {
		b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
		b.submitFor("x", Policy{}, times, nil)
		b.accept(b.pass(0))
		return b
	}
	former := []Held{{"x", Attempt{50, 1}, 1}}
	// claimedAfter: a worker claims what it has from a former term, when the stream has delivered
	// that.
	claimedAfter := func(read ...Event) func(t *testing.T) []Effect {
		return func(t *testing.T) []Effect {
			b := newDriver(t)
			for _, ev := range read {
				b.step(ev)
			}
			b.step(CaughtUp{})
			b.step(Members{List: []Member{member(5)}})
			b.step(Synced{Session: 5, Held: former})
			return b.seal(9)
		}
	}
	for name, c := range map[string]struct {
		want Status
		stop func(t *testing.T) []Effect
	}{
		"cancelled": {StatusCancelled, func(t *testing.T) []Effect {
			return running(t, Times{}).step(CancelAsked{ID: "x", Revision: 50})
		}},
		"expired": {StatusExpired, func(t *testing.T) []Effect {
			return running(t, Times{Deadline: time.Minute}).pass(time.Minute)
		}},
		"ended by another scheduler": {"", func(t *testing.T) []Effect {
			return running(t, Times{}).step(Settled{ID: "x", Revision: 50})
		}},
		"expired in a former term": {
			StatusExpired,
			claimedAfter(Settled{ID: "x", Revision: 2, Status: StatusExpired, Attempt: Attempt{50, 1}}),
		},
		"cancelled as the state is completed": {StatusCancelled, func(t *testing.T) []Effect {
			b := newDriver(t)
			b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
			b.step(CancelAsked{ID: "x", Revision: 2})
			b.step(CaughtUp{})
			b.step(Members{List: []Member{member(5)}})
			b.seal(9)
			return b.step(Synced{Session: 5, Held: former})
		}},
		"ended otherwise in a former term": {
			"",
			claimedAfter(Settled{ID: "x", Revision: 2, Status: StatusSucceeded, Attempt: Attempt{50, 1}}),
		},
		"submitted again after it was cancelled": {"", claimedAfter(
			Settled{ID: "x", Revision: 2, Status: StatusCancelled, Attempt: Attempt{50, 1}},
			Submitted{ID: "x", Revision: 3, Policy: policy},
		)},
		"cancelled in another life": {
			"",
			claimedAfter(Settled{ID: "x", Revision: 4, Status: StatusCancelled, Attempt: Attempt{60, 1}}),
		},
		"being cancelled in another life": {"", func(t *testing.T) []Effect {
			b := newDriver(t)
			b.step(Submitted{ID: "x", Revision: 7, Policy: policy})
			b.step(CancelAsked{ID: "x", Revision: 8})
			b.step(CaughtUp{})
			b.step(Members{List: []Member{member(5)}})
			b.seal(10)
			return b.step(Synced{Session: 5, Held: former})
		}},
		"cancelled, and ended otherwise in its next life": {"", claimedAfter(
			Settled{ID: "x", Revision: 2, Status: StatusCancelled, Attempt: Attempt{50, 1}},
			Settled{ID: "x", Revision: 4, Status: StatusSucceeded, Attempt: Attempt{60, 1}},
		)},
		"submitted again behind our back": {"", func(t *testing.T) []Effect {
			return running(t, Times{}).step(Submitted{ID: "x", Revision: 50, Policy: policy})
		}},
		"another attempt is adopted": {"", func(t *testing.T) []Effect {
			b := newDriver(t)
			b.read()
			b.step(Members{List: []Member{member(5), member(6)}})
			b.step(Synced{Session: 5, Held: former})
			return b.step(Synced{Session: 6, Held: []Held{{"x", Attempt{50, 2}, 1}}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			stops := findAll[Stop](c.stop(t))
			if len(stops) != 1 || stops[0].ID != "x" || stops[0].Status != c.want {
				t.Fatalf("%+v, want one that says %q", stops, c.want)
			}
		})
	}
}

// TestAStopIsToldUntilItIsAnswered, ever more seldom: a worker may be cut off for long, and keep
// its session.
func TestAStopIsToldUntilItIsAnswered(t *testing.T) {
	for name, end := range map[string]Event{
		"answered": Stopped{Session: 200, ID: "x", Attempt: Attempt{100, 1}}, "dead": Dead{Session: 200},
	} {
		t.Run(name, func(t *testing.T) {
			b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
			b.submit("x", Policy{}, nil)
			b.accept(b.pass(0))
			b.storeAll(b.step(CancelAsked{ID: "x", Revision: 50}))
			var waits []time.Duration
			last := b.now
			for until := b.now.Add(10 * time.Second); b.now < until; {
				for range findAll[Stop](b.pass(b.s.Next(b.now))) {
					waits = append(waits, b.now.Sub(last))
					last = b.now
				}
			}
			if len(waits) != 27 || waits[len(waits)-1] != 400*time.Millisecond {
				t.Errorf("told again after %v", waits)
			}
			b.step(end)
			if more := findAll[Stop](b.pass(time.Hour)); len(more) > 0 {
				t.Errorf("told once more: %+v", more)
			}
		})
	}
}

// TestStopsAreBounded: of a worker that never answers any, the latest are kept.
func TestStopsAreBounded(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	const more = 10
	for i := range maxStops + more {
		b.submit(fmt.Sprint(i), Policy{}, nil)
		b.accept(b.pass(0))
		b.storeAll(b.step(CancelAsked{ID: fmt.Sprint(i), Revision: 1 << 20}))
	}
	w := b.s.workers[200]
	if len(w.stops) > maxStops || len(w.stops) < maxStops/2 || w.stops[0].id != fmt.Sprint(maxStops+more-len(w.stops)) {
		t.Errorf("%d stops, the first %+v", len(w.stops), w.stops[0])
	}
}

// TestTheLatestEndsAreKept: of more outcomes than are kept to tell why, the latest count, and none
// after the state is complete.
func TestTheLatestEndsAreKept(t *testing.T) {
	b := newDriver(t)
	const more = 10
	for i := range maxAborted + more {
		b.s.Step(b.now, Settled{
			ID: fmt.Sprint(i), Revision: uint64(i + 1), Status: StatusCancelled,
			Attempt: Attempt{50, uint32(i + 1)},
		}, nil)
	}
	if n := len(b.s.aborted); n != more {
		t.Errorf("%d are kept", n)
	}
	last := maxAborted + more - 1
	b.step(CaughtUp{})
	b.step(Members{List: []Member{member(5)}})
	b.step(Synced{Session: 5, Held: []Held{{fmt.Sprint(last), Attempt{50, uint32(last + 1)}, 1}}})
	if stops := findAll[Stop](b.seal(1 << 20)); len(stops) != 1 || stops[0].Status != StatusCancelled ||
		b.s.aborted != nil {
		t.Errorf("%+v", stops)
	}
}
