package view

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Eligible is how many members would lead r: their member record says so, and is of their present
// session. It is for people: no rule asks for it.
func (v *View[P, R]) Eligible(r *Role[P, R]) int { return int(r.eligible) }

// offers reports whether m, the record of a member that it belongs to, offers to lead a role about
// which it says that.
func (p *Peer[P, R]) offers(m *record.Member, belongs bool, said *record.Candidacy) bool {
	return belongs && said != nil && said.Eligible && !m.Draining && p.Peer.Class == record.Candidate
}

// offered counts again the roles of p, whose member record belonged to its session before, or did
// not.
func (v *View[P, R]) offered(p *Peer[P, R], before bool, n *News[P, R]) {
	now := p.Belongs()
	if p.Member == nil || now == before {
		return
	}
	for i := range p.Member.Roles {
		said := &p.Member.Roles[i]
		r := v.Mention(said.Role)
		v.count(r, p.offers(p.Member, before, &said.Candidacy), p.offers(p.Member, now, &said.Candidacy), n)
	}
}

// count notes that a member offered to lead r before, or does now.
func (v *View[P, R]) count(r *Role[P, R], before, now bool, n *News[P, R]) {
	switch {
	case before == now:
		return
	case now:
		r.eligible++
	default:
		r.eligible--
	}
	if n != nil {
		n.Notices = append(n.Notices, CandidatesChanged{r.Name, int(r.eligible)})
	}
}
