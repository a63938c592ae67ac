package elections

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// calm heals everything, and insists that every role is led again within its bound (E5), that it
// stays with its leader, and that the best candidate leads if there are priorities (E6).
func (s *electionStorm) calm() {
	s.a.TB.Helper()
	s.HealAll()
	if len(s.a.Alive()) < 2 {
		s.join("")
		s.join("")
	}
	s.a.Note("calm")
	began := time.Now()
	for _, role := range s.roles {
		s.a.Await(fmt.Sprintf("E5: %s is led again (%v)", role, s.Storm), role, s.bound(),
			func() bool { return s.a.Leader(role) != nil })
	}
	s.a.recovered(time.Since(began))
	if s.Ranked && s.Rand.IntN(2) == 0 {
		s.converge()
	}
	s.Pass(s.Below(s.Lull))
}

// bound is within which everything must be right again after faults: work that is stuck keeps its
// role for three TTLs, and then or instead a lease runs out; a minute is for what is tried again
// every 30 s, and for a cool-down that has doubled. (One may double further, with every failure in
// a row. That all candidates of a role cool down for so long at once is too rare to allow for.)
// Where a record was taken away nobody knows how long its lease was, so the wait is the bucket's
// longest, once to open a session and once to claim.
//
// The promised wait for a leader that is lost when all is well is far shorter: see leaderless.
func (s *electionStorm) bound() time.Duration {
	bound := 4*s.longest() + time.Minute
	if s.wiped {
		bound += 2 * natskv.DefaultMaxTTL
	}
	return bound
}

// converge is E6: after a while of quiet the eligible candidate of the highest priority leads.
func (s *electionStorm) converge() {
	s.a.TB.Helper()
	for _, role := range s.roles {
		s.a.Await(fmt.Sprintf("E6: the best candidate leads %s (%v)", role, s.Storm), role, s.bound(),
			func() bool { return s.best(role) })
	}
	s.a.Tally.Add("converged", 1)
}

// best reports whether no candidate in line outranks the leader.
func (s *electionStorm) best(role string) bool {
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
