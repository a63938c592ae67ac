package elections

import (
	"fmt"
	"slices"
)

// A Tally counts these of a storm, beside events and faults.
const (
	joined      = "joined"       // processes of the fault "join" whose session has opened
	leaseClosed = "lease closed" // processes of the fault "leave" that have left cleanly
)

// overtime is how many stretches of weather a storm has, after its length, for what it owes. Two
// are enough as a rule for every fault, and the rest is chance.
const overtime = 40

// assemble waits until every process is in line for every role: a storm is as large as its plan
// says before its first fault.
func (s *electionStorm) assemble() {
	s.a.TB.Helper()
	for _, role := range s.roles {
		s.a.Await(fmt.Sprintf("%d candidates contend for %s (%v)", s.Processes, role, s.Storm), role, s.bound(), func() bool {
			return s.contend(role) == s.Processes
		})
	}
	most := 0
	for _, p := range s.a.Alive() {
		leads := 0
		for _, role := range s.roles {
			if p.Leads(role) {
				leads++
			}
		}
		most = max(most, leads)
	}
	s.a.TB.Logf("%d candidates contend for each of %d roles; one leads %d of them", s.Processes, s.Roles, most)
}

// contend counts the candidates of a role, as its leader sees them.
func (s *electionStorm) contend(role string) int {
	leader := s.a.Leader(role)
	if leader == nil {
		return 0
	}
	names := []string{leader.Name}
	for _, c := range leader.Elections[role].Status().Candidates {
		if !slices.Contains(names, c.Instance) {
			names = append(names, c.Instance)
		}
	}
	return len(names)
}

// owes is what a storm has not brought about yet of what makes it prove anything: every kind of
// fault that it can have, what those lead to, and a second term of every role.
func (s *electionStorm) owes() []string {
	owed := s.a.Tally.Missing(append(FaultNames(s.Restarts),
		joined, leaseClosed, "SessionLost", "SessionKilled", "RoleDemoted/session lost", "given away", ledInTime)...)
	first := 0
	for _, role := range s.roles {
		if !s.a.Ledger.reled(role) {
			first++
		}
	}
	if first > 0 {
		owed = append(owed, fmt.Sprintf("a second term of %d of %d roles", first, s.Roles))
	}
	return owed
}
