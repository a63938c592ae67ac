package arena

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// calm heals everything, and insists that every role is led again within its bound (E5), that it stays with its leader, and
// that the best candidate leads if there are priorities (E6).
func (s *storm) calm() {
	s.a.TB.Helper()
	for _, p := range s.broken {
		s.heal(p)
	}
	s.broken = nil
	if len(s.a.Alive()) < 2 {
		s.join("")
		s.join("")
	}
	s.a.Note("calm")
	began := time.Now()
	for _, role := range s.roles {
		s.a.Await(fmt.Sprintf("E5: %s is led again (%v)", role, s.Storm), role, s.bound(), func() bool { return s.a.Leader(role) != nil })
	}
	s.a.recovered(time.Since(began))
	if s.Ranked && s.rng.IntN(2) == 0 {
		s.converge()
	}
	s.wiped = false
	s.pass(time.Duration(s.rng.Int64N(int64(s.Lull))))
}

// bound is I3: the longest lease by the slowest clock, the time in which a connection comes back and a watch is made anew,
// and a cool-down. Where a record was taken away nobody knows how long its lease was, so the wait is the bucket's longest.
func (s *storm) bound() time.Duration {
	longest := s.TTL
	if s.Mixed {
		longest *= 3
	}
	bound := 4*longest + time.Minute
	if s.wiped {
		bound += 2 * natskv.DefaultMaxTTL
	}
	return bound
}

// converge is E6: after a while of quiet the eligible candidate of the highest priority leads.
func (s *storm) converge() {
	s.a.TB.Helper()
	for _, role := range s.roles {
		s.a.Await(fmt.Sprintf("E6: the best candidate leads %s (%v)", role, s.Storm), role, s.bound(), func() bool { return s.best(role) })
	}
	s.a.Tally.Add("converged", 1)
}

// best reports whether no candidate in line outranks the leader.
func (s *storm) best(role string) bool {
	leader := s.a.Leader(role)
	if leader == nil {
		return false
	}
	st := leader.Elections[role].Status()
	for _, c := range st.Candidates {
		if c.Priority > st.Priority {
			return false
		}
	}
	return true
}

// recovered notes how long it took until every role was led.
func (a *Arena) recovered(took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leaderless = max(a.leaderless, took)
}

// Longest is how long it took at most, after the last fault had healed, until every role was led.
func (a *Arena) Longest() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.leaderless
}
