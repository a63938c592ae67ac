package protocol

import (
	"cmp"
	"slices"
	"time"
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
func (v *View) Line(now Instant, r *RoleView) []Contender {
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
func (v *View) Successor(now Instant, r *RoleView) string {
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

func (v *View) contender(now Instant, role string, p *PeerView) (c Contender, ok bool) {
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

// turnDelay is how long we let those before us go first for a role that can be claimed: a moment for each, and a heartbeat for
// whom the role was handed to. That one has confirmed that it takes the role, so it is only slow, and nobody else was meant.
func (m *Machine) turnDelay(r *role) (delay time.Duration) {
	me := Contender{m.cfg.Instance, m.lease.number, r.priority, r.takeover}
	for _, p := range r.candidates {
		if p == m.self {
			continue
		}
		c, ok := m.view.contender(m.now.Observer, r.Name, p)
		if !ok || compareContenders(&r.Role, c, me) > 0 {
			continue
		}
		delay += m.cfg.Delta
		if r.Role.Vacant && c.Instance == r.Role.Next {
			delay += m.cfg.Heartbeat
		}
	}
	return delay
}
