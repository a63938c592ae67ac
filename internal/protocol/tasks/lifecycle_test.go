package tasks

import (
	"slices"
	"testing"
)

// TestMovesAreStates: whatever the scheduler does with a task looks from outside like a step of its
// life, or like none.
func TestMovesAreStates(t *testing.T) {
	looks := func(p taskPhase, tried bool) []State { // a phase may look like several
		x := &task{phase: p}
		if tried {
			x.failures = 1
		}
		if p == ending {
			return []State{StateSucceeded, StateDead, StateCancelled, StateExpired}
		}
		return []State{x.state()}
	}
	for from := waiting; from < ending; from++ {
		for _, to := range moves[from] {
			if to == nowhere {
				continue
			}
			// Only a note makes a task wait for its time again, and there was an attempt then.
			for _, tried := range []bool{false, true} {
				legal := false
				for _, a := range looks(from, tried) {
					for _, b := range looks(to, tried || to == delayed) {
						legal = legal || a == b || slices.Contains(follows[a], b)
					}
				}
				if !legal {
					t.Errorf("%v to %v: %v to %v", from, to, looks(from, tried), looks(to, tried))
				}
			}
		}
	}
	if len(moves[ending]) != 1 || moves[ending][0] != nowhere {
		t.Errorf("after its outcome a task continues to %v", moves[ending])
	}
}

func TestOnlyWhatRunsSucceeds(t *testing.T) {
	for from, all := range follows {
		if slices.Contains(all, StateSucceeded) != (from == StateRunning) {
			t.Errorf("%s may succeed: %v", from, all)
		}
		if _, ends := follows[StateSucceeded]; ends {
			t.Error("something comes after success")
		}
	}
}

// TestAMoveThatNoRuleMakesEndsTheScheduler: what a broken state says is never written.
func TestAMoveThatNoRuleMakesEndsTheScheduler(t *testing.T) {
	b := newDriver(t)
	b.begin()
	b.s.move(b.s.tasks.get("x"), delayed)
	if got, ok := find[Broken](b.s.out); !ok || got.What == "" {
		t.Errorf("%+v", b.s.out)
	}
	b.s.out = nil
	if effects := b.step(Submitted{ID: "y", Revision: 9, Policy: policy}); len(effects) != 0 {
		t.Errorf("it continues: %+v", effects)
	}
}
