package elections

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// ledInTime is what a Tally counts of roles whose leader crashes in the calm.
const ledInTime = "led again in time"

// crashLeader crashes somebody who leads when all is quiet, and wants each role that it led to be
// led again in time, if somebody else is in line for it (E5). Then another process takes its place.
func (s *electionStorm) crashLeader() {
	s.a.TB.Helper()
	role := s.role()
	s.quiet(role)
	p := s.a.Leader(role)
	var roles []string
	for _, r := range s.roles {
		if s.a.Leader(r) == p && s.follows(r, p) {
			roles = append(roles, r)
		}
	}
	if len(roles) == 0 {
		s.a.Note("nobody is in line after %s", p)
		return
	}
	within := s.leaderless(p)
	s.a.Note("%s crashes in the calm, leader of %d roles", p, len(roles))
	crashed := time.Now()
	p.Crash()
	s.Doom(p, 3*s.TTL)
	for _, r := range roles {
		what := fmt.Sprintf("E5: %s is led again within %v after the crash of %s (%v)", r, within, p, s.Storm)
		s.a.Await(what, r, within-time.Since(crashed), func() bool { return s.a.Ledger.ledSince(r, crashed, p) })
	}
	s.a.Tally.Add("leaders crashed in the calm", 1)
	s.a.Tally.Add(ledInTime, len(roles))
	s.join("")
}

// quiet waits until a role is led and what was before can be felt no more: watches that were
// stalled continue, links that were cut are known to be, and everybody sees the sessions of those
// who take part and no others.
func (s *electionStorm) quiet(role string) {
	s.a.TB.Helper()
	s.Pass(3 * s.longest())
	what := fmt.Sprintf("%s is led, and everybody sees those who take part (%v)", role, s.Storm)
	s.a.Await(what, role, s.bound(), func() bool {
		alive := s.a.Alive()
		sessions := map[string]uint64{}
		for _, p := range alive {
			sessions[p.Name] = bridge.Number(p.Session)
		}
		return s.a.Leader(role) != nil && len(sessions) == len(alive) && !slices.ContainsFunc(alive, func(p *Process) bool {
			seen := p.Session.Members()
			for _, m := range seen {
				if m.Session != sessions[m.Instance] {
					return true
				}
			}
			return len(seen) != len(alive) || !p.Session.Connected()
		})
	})
	s.wiped = false
}

// follows reports whether p sees somebody else in line for a role who takes part.
func (s *electionStorm) follows(role string, p *Process) bool {
	line := p.Elections[role].Status().Candidates
	return slices.ContainsFunc(s.a.Alive(), func(q *Process) bool {
		return q != p && slices.ContainsFunc(line, func(c election.Candidate) bool { return c.Instance == q.Name })
	})
}

// leaderless is how long a role may be without a leader after p, which leads it, has crashed when
// all is quiet:
//
//	TTL·(1+ρ), ρ being how slow the slowest clock is
//
// On the virtual clock messages take no time. Succession adds nothing: of those who live and see
// the same some process is the first to kill, one is the first in line, and neither waits for
// anybody. Nor does the stream: no server is lost, so it elects none. Await looks every 10 ms.
func (s *electionStorm) leaderless(p *Process) time.Duration {
	return s.slowest(p.Session.Config().TTL) + 10*time.Millisecond
}

// slowest is how long a span takes at most by the clock of a process.
func (s *electionStorm) slowest(d time.Duration) time.Duration {
	return time.Duration(float64(d) / (1 - s.Skew))
}

// longest is the longest TTL that a process has.
func (s *electionStorm) longest() time.Duration {
	if s.Mixed {
		return 3 * s.TTL
	}
	return s.TTL
}

// ledSince reports whether a term of a role has begun since then, of another process than p.
func (l *Ledger) ledSince(role string, since time.Time, p *Process) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	former := p.String()
	return slices.ContainsFunc(l.holds[role],
		func(h *Hold) bool { return h.Process != former && !h.From.Before(since) })
}
