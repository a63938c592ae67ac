package protocol

import (
	"cmp"
	"slices"
)

// Contender is a candidate as the succession sees it.
type Contender struct {
	Instance string
	Session  uint64
	Priority int32
	Takeover bool
}

// Line is the order in which live, eligible candidates claim a role that falls vacant now: the hinted one, then by
// priority, then by age of the session; who just vacated comes last. It is a matter of delay only, never of safety.
func (v *theView[P, R]) Line(now Instant, r *theRole[P, R]) []Contender {
	var line []Contender
	for _, p := range r.candidates {
		if c, ok := v.contender(now, r.Name, p); ok {
			line = append(line, c)
		}
	}
	slices.SortFunc(line, func(a, b Contender) int { return compareContenders(&r.Role, a, b) })
	return line
}

// Successor is who would take r over from its present leader, or "".
func (v *theView[P, R]) Successor(now Instant, r *theRole[P, R]) string {
	if r.Form == FormNewer {
		return "" // nobody claims over it
	}
	for _, c := range v.Line(now, r) {
		if !r.held() || c.Instance != r.Role.ID {
			return c.Instance
		}
	}
	return ""
}

func (v *theView[P, R]) contender(now Instant, role string, p *thePeer[P, R]) (c Contender, ok bool) {
	said, ok := p.Member.candidacy(role)
	if !ok || !said.Eligible || p.Member.Draining || !p.Belongs() || !p.Active(now) || p.Peer.Class != Candidate {
		return c, false
	}
	return Contender{p.Peer.Instance, p.Session(), said.Priority, said.Takeover}, true
}

func compareContenders(rec *Role, a, b Contender) int {
	last := func(c Contender) int { return toInt(rec.Vacant && c.Instance == rec.By) }
	hinted := func(c Contender) int { return toInt(!rec.Vacant || rec.Next == "" || c.Instance != rec.Next) }
	return cmp.Or(
		cmp.Compare(last(a), last(b)),
		cmp.Compare(hinted(a), hinted(b)),
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
