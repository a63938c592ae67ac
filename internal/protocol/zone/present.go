package zone

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Present is since when the candidates of better tiers are there without a break.
type Present struct {
	all   []Candidate
	begun bool
}

// Candidate is a session of a member, and since when it is there.
type Candidate struct {
	Instance string
	Session  uint64
	Since    record.Instant
}

// Update takes in who is there now. A candidate that was not there before counts from now, but for
// the first time from when its session was first seen.
func (p *Present) Update(now record.Instant, there []Candidate) {
	for i, c := range there {
		switch since, known := p.since(c.Instance, c.Session); {
		case known:
			there[i].Since = since
		case p.begun:
			there[i].Since = now
		}
	}
	p.all, p.begun = there, true
}

func (p *Present) since(instance string, session uint64) (record.Instant, bool) {
	for _, c := range p.all {
		if c.Instance == instance && c.Session == session {
			return c.Since, true
		}
	}
	return 0, false
}

// Since is since when a candidate is there, ok whether it is.
func (p *Present) Since(instance string) (since record.Instant, ok bool) {
	for _, c := range p.all {
		if c.Instance == instance {
			return c.Since, true
		}
	}
	return 0, false
}
