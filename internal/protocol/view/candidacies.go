package view

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// setMember takes in what a member says, nil for nothing any more. A member says something again
// whenever it says something else about its tasks, say: its roles are walked if that matters to
// them.
func (v *View[P, R]) setMember(p *Peer[P, R], m *record.Member, n *News[P, R]) {
	old, belonged := p.Member, p.Belongs()
	v.share(old, m)
	p.Member = m
	if old == nil || m == nil || belonged != p.Belongs() || old.Session != m.Session || old.Draining != m.Draining ||
		!old.Roles.Same(m.Roles) {
		v.setCandidacies(p, old, belonged, n)
	}
	n.Peers = append(n.Peers, p)
	n.Notices = append(n.Notices, MemberChanged{p.Peer})
	v.noticeMember(p, n)
}

func (v *View[P, R]) setCandidacies(p *Peer[P, R], old *record.Member, belonged bool, n *News[P, R]) {
	m, belongs := p.Member, p.Belongs()
	var was, is record.Candidacies
	if m != nil {
		is = m.Roles
	}
	if old != nil {
		was = old.Roles
		now := walk(is)
		for i := range was {
			said, says := &was[i].Candidacy, now.to(was[i].Role)
			r := v.Mention(was[i].Role)
			v.count(r, p.offers(old, belonged, said), p.offers(m, belongs, says), n)
			if says != nil && *says == *said && old.Session == m.Session && old.Draining == m.Draining {
				continue
			}
			if says == nil {
				r.Candidates = slices.DeleteFunc(r.Candidates, func(q *Peer[P, R]) bool { return q == p })
			}
			n.Roles = append(n.Roles, r)
		}
	}
	before := walk(was)
	for i := range is {
		r := v.Mention(is[i].Role)
		is[i].Role = r.Name // so that there is one copy of the name
		if before.to(r.Name) == nil {
			v.count(r, false, p.offers(m, belongs, &is[i].Candidacy), n)
			r.Candidates = append(r.Candidates, p)
			n.Roles = append(n.Roles, r)
		}
	}
}

// alike is how many other members a member is compared with.
const alike = 4

// share has a member say what it says about roles by the list of its former record, or by that of
// another one that takes part in its first role, if they say the same. Members of a company often
// do.
func (v *View[P, R]) share(old, m *record.Member) {
	switch {
	case m == nil || len(m.Roles) == 0:
		return
	case old != nil && old.Roles.Equal(m.Roles):
		m.Roles = old.Roles
		return
	}
	r := v.roles[m.Roles[0].Role]
	if r == nil {
		return
	}
	for _, p := range r.Candidates[max(len(r.Candidates)-alike, 0):] {
		if p.Member != nil && p.Member.Roles.Equal(m.Roles) {
			m.Roles = p.Member.Roles
			return
		}
	}
}

// walk goes through a list in the order of the roles.
type walk record.Candidacies

// to is what is said for a role, nil for nothing. It is asked in the order of the roles.
func (w *walk) to(role string) *record.Candidacy {
	for len(*w) > 0 && (*w)[0].Role < role {
		*w = (*w)[1:]
	}
	if len(*w) == 0 || (*w)[0].Role != role {
		return nil
	}
	return &(*w)[0].Candidacy
}
