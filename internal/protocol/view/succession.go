package view

import (
	"cmp"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Contender is a candidate as the succession sees it.
type Contender struct {
	Instance string
	Session  uint64
	Tier     int32
	Priority int32 // its rank within all tiers
	Takeover bool
}

// Order is the order in which live, eligible candidates claim a role that falls vacant now: the
// hinted one, then by tier and priority, then by age of the session; the one that just vacated
// comes last. It is a matter of delay only, never of safety.
func (v *View[P, R]) Order(now record.Instant, r *Role[P, R]) []Contender {
	var line []Contender
	for _, p := range r.Candidates {
		if c, ok := v.Contender(now, r.Name, p); ok {
			line = append(line, c)
		}
	}
	slices.SortFunc(line, func(a, b Contender) int { return CompareContenders(&r.Role, a, b) })
	return line
}

// Successor is who would take r over from its present leader, or "".
func (v *View[P, R]) Successor(now record.Instant, r *Role[P, R]) string {
	if r.Form == record.FormNewer {
		return "" // nobody claims over it
	}
	for _, c := range v.Order(now, r) {
		if !r.Held() || c.Instance != r.Role.ID {
			return c.Instance
		}
	}
	return ""
}

func (v *View[P, R]) Contender(now record.Instant, role string, p *Peer[P, R]) (c Contender, ok bool) {
	said, ok := p.Member.Candidacy(role)
	if !ok || !said.Eligible || p.Member.Draining || !p.Belongs() || !v.Active(now, p) ||
		p.Peer.Class != record.Candidate {
		return c, false
	}
	return Contender{p.Peer.Instance, p.Session(), said.Tier, said.Priority, said.TakesOver()}, true
}

// GivenTo is the candidate to which a vacant role was given; nil where there is none, or where that
// one says that it would not lead the role any more.
func (v *View[P, R]) GivenTo(r *Role[P, R]) *Peer[P, R] {
	if r.Form != record.FormRecord || !r.Role.Vacant || r.Role.Next == "" {
		return nil
	}
	p := v.Peer(record.Peer{Class: record.Candidate, Instance: r.Role.Next})
	if p == nil {
		return nil
	}
	if said, _ := p.Member.Candidacy(r.Name); !said.Eligible {
		return nil
	}
	return p
}

func CompareContenders(rec *record.Role, a, b Contender) int {
	last := func(c Contender) int { return toInt(rec.Vacant && c.Instance == rec.By) }
	hinted := func(c Contender) int { return toInt(!rec.Vacant || rec.Next == "" || c.Instance != rec.Next) }
	return cmp.Or(
		cmp.Compare(last(a), last(b)),
		cmp.Compare(hinted(a), hinted(b)),
		cmp.Compare(b.Tier, a.Tier),
		cmp.Compare(b.Priority, a.Priority),
		cmp.Compare(a.Session, b.Session),
	)
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
