package elections

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestDeckDealsEveryKind: once each before weights decide, whichever of them cannot be done for a
// while.
func TestDeckDealsEveryKind(t *testing.T) {
	all := faults
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		d, struck := newDeck(all, rng), map[string]int{}
		for range all {
			f := d.draw(rng)
			struck[f.Name]++
			d.struck(f)
		}
		for _, f := range all {
			if struck[f.Name] != 1 {
				t.Fatalf("seed %d: %q came %d times among the first %d", seed, f.Name, struck[f.Name], len(all))
			}
		}

		d = newDeck(all, rng) // "join" is possible only after something has crashed, left or been doubled twice
		clear(struck)
		for draws := 0; len(struck) < len(all); draws++ {
			if draws == 1000 {
				t.Fatalf("seed %d: after %d draws only %v", seed, draws, struck)
			}
			f := d.draw(rng)
			if f.Name == "join" && struck["crash"]+struck["leave"]+struck["double"] < 5 {
				continue
			}
			struck[f.Name]++
			d.struck(f)
		}
	}
}

func TestKindsKnowRestarts(t *testing.T) {
	with, without := FaultNames(true), FaultNames(false)
	if !slices.Contains(with, "fault/restart") || slices.Contains(without, "fault/restart") ||
		len(with) != len(without)+1 {
		t.Errorf("with restarts %q, without %q", with, without)
	}
}

// TestStormOwesWhatHasNotHappened: a storm without a fault, a kind of fault, a consequence or a
// second term of each role owes it.
func TestStormOwesWhatHasNotHappened(t *testing.T) {
	s := &electionStorm{
		Storm: Storm{Roles: 2}, a: &Arena{Ledger: NewLedger(false), Tally: NewTally()},
		roles: []string{"r", "q"},
	}
	at := time.Unix(1000, 0)
	owes := func(want ...string) {
		t.Helper()
		if owed := s.owes(); !slices.Equal(owed, want) {
			t.Fatalf("owes %q, want %q", owed, want)
		}
	}
	consequences := []string{
		joined, leaseClosed, "SessionLost", "SessionKilled", "RoleDemoted/session lost", "given away",
		ledInTime,
	}
	owes(slices.Concat(FaultNames(false), consequences, []string{"a second term of 2 of 2 roles"})...)
	for _, what := range slices.Concat(FaultNames(false), consequences) {
		s.a.Tally.Add(what, 1)
	}
	s.a.Ledger.Promoted("a", "r", 1, 10, at, time.Time{})
	s.a.Ledger.Promoted("b", "r", 2, 11, at, time.Time{})
	s.a.Ledger.Promoted("a", "q", 1, 12, at, time.Time{})
	s.a.Ledger.Believed("b", "q", 13, at, time.Time{}) // as long as its work has not begun
	owes("a second term of 1 of 2 roles")
	s.a.Ledger.Promoted("b", "q", 2, 13, at, time.Time{})
	owes()
	s.Restarts = true
	owes("fault/restart")
}

// TestLedSince: a role is led again by a term of somebody else, and by one that has begun since.
func TestLedSince(t *testing.T) {
	l, crashed := NewLedger(false), time.Unix(1000, 0)
	p := &Process{Plan: Plan{Name: "p"}, n: 1}
	l.Promoted("q#2", "r", 1, 10, crashed.Add(-time.Second), time.Time{})
	l.Promoted(p.String(), "r", 2, 11, crashed.Add(time.Millisecond), time.Time{}) // its claim had landed
	l.Promoted("q#2", "s", 1, 12, crashed.Add(time.Second), time.Time{})
	if l.ledSince("r", crashed, p) {
		t.Error("a term of before, one of a process that has crashed, and one of another role count")
	}
	if l.Promoted("q#2", "r", 1, 13, crashed, time.Time{}); !l.ledSince("r", crashed, p) {
		t.Error("the next term does not count")
	}
}
