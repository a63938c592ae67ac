package spread

import (
	"encoding/binary"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// Picture is a group as a view shows it: with each member and role of the group in its place. It
// takes in once how its members take part. So while the same members say the same, another look
// costs a step for each role, not one for each role and member.
type Picture[P, R any] struct {
	Group
	Peers []*view.Peer[P, R]
	Names []*view.Role[P, R]
	lists []list // what the members say about roles: members of a company often share it
	said  []int  // by member: which of these it says
	index map[*view.Peer[P, R]]int
	known map[*view.Role[P, R]]*known
	wants map[string]*wanted // by what the lists say
}

// list is what some members say about roles.
type list struct {
	record.Candidacies
	takes bool // they spread a role of the group
}

// known is what is known of a role by what the members say.
type known struct {
	*wanted
	place int // among the roles of the group; Nobody: none
}

// wanted is by whom a role is wanted.
type wanted struct {
	may *May
	of  bool   // some of them spread it in this group
	by  []bool // and by which lists they say that
}

// Own is what a process knows beside its view: which peer a role is about to be led by.
type Own[P, R any] func(r *view.Role[P, R]) *view.Peer[P, R]

// Of is the picture of a group. The members are the live candidates that are not about to leave,
// and the roles those that some of them spread. A role that a silent session holds is left out: it
// may not be taken.
func Of[P, R any](v *view.View[P, R], now record.Instant, group string, own Own[P, R]) *Picture[P, R] {
	p := &Picture[P, R]{Group: Group{Name: group}}
	p.Look(v, now, own)
	return p
}

// Look makes the picture again, in place. A plan of the former one is of no use with it.
func (p *Picture[P, R]) Look(v *view.View[P, R], now record.Instant, own Own[P, R]) {
	if !p.same(v, now) {
		p.takeIn(v, now)
	}
	for m := range p.Members {
		p.Members[m].Pinned, p.Members[m].Beside = 0, 0
	}
	p.Roles, p.Names = p.Roles[:0], p.Names[:0]
	for _, r := range v.Roles() {
		p.add(v, r, own)
	}
	p.setApart()
}

// same reports whether the members are those of the picture, and say what they said.
func (p *Picture[P, R]) same(v *view.View[P, R], now record.Instant) bool {
	if p.index == nil || len(p.known) > 2*len(v.Roles())+64 { // names come and go
		return false
	}
	n := 0
	for _, peer := range v.Peers() {
		if p.belongs(v, now, peer) {
			if n == len(p.Peers) || p.Peers[n] != peer || !p.says(n, peer.Member) {
				return false
			}
			n++
		}
	}
	return n == len(p.Peers)
}

// says reports whether a member says what was taken in. The roles that are to be apart are read
// each time.
func (p *Picture[P, R]) says(m int, said *record.Member) bool {
	return p.lists[p.said[m]].Same(said.Roles) && p.Members[m].Weight == max(said.Capacity, 1) &&
		p.Members[m].Cap == said.MaxRoles
}

// takeIn begins a picture with the members that there are.
func (p *Picture[P, R]) takeIn(v *view.View[P, R], now record.Instant) {
	*p = Picture[P, R]{
		Group: Group{Name: p.Name}, index: map[*view.Peer[P, R]]int{},
		known: make(map[*view.Role[P, R]]*known, len(v.Roles())), wants: map[string]*wanted{},
	}
	for _, peer := range v.Peers() {
		if p.belongs(v, now, peer) {
			p.index[peer] = len(p.Peers)
			p.Peers = append(p.Peers, peer)
			p.said = append(p.said, p.list(peer.Member.Roles))
			p.Members = append(p.Members, Member{
				Name: peer.Peer.Instance, Weight: max(peer.Member.Capacity, 1), Cap: peer.Member.MaxRoles,
			})
		}
	}
}

// list is the place of what a member says.
func (p *Picture[P, R]) list(said record.Candidacies) int {
	for i := range p.lists {
		if p.lists[i].Same(said) {
			return i
		}
	}
	p.lists = append(p.lists, list{Candidacies: said})
	return len(p.lists) - 1
}

func (p *Picture[P, R]) belongs(v *view.View[P, R], now record.Instant, peer *view.Peer[P, R]) bool {
	return peer.Peer.Class == record.Candidate && peer.Belongs() && !peer.Member.Draining && v.Active(now, peer)
}

// add takes a role in, if it is of the group; of another one it counts against the caps alone.
func (p *Picture[P, R]) add(v *view.View[P, R], r *view.Role[P, R], own Own[P, R]) {
	k := p.known[r]
	if k == nil {
		k = &known{wanted: p.wanted(r)}
		p.known[r] = k
	}
	k.place = Nobody
	at, led := p.at(v, r, own)
	switch {
	case at != Nobody && !k.by[p.said[at]]:
		if said, _ := p.Peers[at].Member.Candidacy(r.Name); said.Group == p.Name {
			p.Members[at].Pinned++
		} else {
			p.Members[at].Beside++
		}
	case led && k.of:
		k.place = len(p.Roles)
		p.Names = append(p.Names, r)
		p.Roles = append(p.Roles, Role{
			Name: r.Name, Revision: r.Revision, Fell: fell(v, r), Waits: waits(r), At: at, May: k.may,
		})
	}
}

// fell is the revision at which a role fell vacant, if it did: that of its record, or the one that
// ended the session which holds it.
func fell[P, R any](v *view.View[P, R], r *view.Role[P, R]) uint64 {
	if !r.Held() {
		return r.Revision
	}
	p := v.Peer(r.Role.Holder())
	switch {
	case !p.Ended(r.Role.Session):
		return r.Revision
	case p.Lease.Alive():
		return p.Session()
	}
	return p.Revision
}

// waits reports whether a role has fallen vacant in a way after which its former leader may lead on
// for a lease time.
func waits[P, R any](r *view.Role[P, R]) bool {
	switch r.Form {
	case record.FormMarker, record.FormMissing, record.FormGarbage:
		return true
	case record.FormRecord:
		return r.Role.Vacant && r.Role.Forced
	}
	return false
}

// at is which member leads a role, or is about to. A role that somebody else holds, or that cannot
// be read, is not known.
func (p *Picture[P, R]) at(v *view.View[P, R], r *view.Role[P, R], own Own[P, R]) (m int, known bool) {
	if own != nil {
		if peer := own(r); peer != nil {
			return p.member(peer)
		}
	}
	switch {
	case r.Form == record.FormNewer:
		return Nobody, false
	case r.Held():
		switch peer := v.Peer(r.Role.Holder()); {
		case peer.Ended(r.Role.Session):
			return Nobody, true
		case peer == nil || peer.Session() != r.Role.Session:
			return Nobody, false
		default:
			return p.member(peer)
		}
	}
	if peer := v.GivenTo(r); peer != nil {
		if m, ok := p.member(peer); ok {
			return m, true
		}
	}
	return Nobody, true
}

func (p *Picture[P, R]) member(peer *view.Peer[P, R]) (m int, ok bool) {
	if m, ok = p.index[peer]; !ok {
		return Nobody, false
	}
	return m, true
}

// wanted is by which members a role is wanted, of those that spread it in this group. (An empty
// string for a key would be that of a group without members.)
func (p *Picture[P, R]) wanted(r *view.Role[P, R]) *wanted {
	key := make([]byte, 0, 9*len(p.lists))
	for i := range p.lists {
		said, ok := p.lists[i].Of(r.Name)
		if !ok || !said.Spread || said.Group != p.Name {
			key = append(key, 0, 0, 0, 0, 0, 0, 0, 0, 0)
			continue
		}
		p.lists[i].takes = true
		takes := byte(1)
		if said.Eligible {
			takes = 2
		}
		key = binary.LittleEndian.AppendUint32(append(key, takes), uint32(said.Priority))
		key = binary.LittleEndian.AppendUint32(key, uint32(said.Tier))
	}
	w := p.wants[string(key)]
	if w == nil {
		w = p.want(r)
		p.wants[string(key)] = w
	}
	return w
}

func (p *Picture[P, R]) want(r *view.Role[P, R]) *wanted {
	n := len(p.Members)
	may := &May{Take: make([]bool, n), Priority: make([]int32, n), Tier: make([]int32, n)}
	w := &wanted{may: may, by: make([]bool, len(p.lists))}
	for m, i := range p.said {
		if said, ok := p.lists[i].Of(r.Name); ok && said.Spread && said.Group == p.Name {
			w.of, w.by[i] = true, true
			w.may.Take[m], w.may.Priority[m], w.may.Tier[m] = said.Eligible, said.Priority, said.Tier
		}
	}
	return w
}

// setApart notes which roles are to be apart, as any member says that spreads them.
func (p *Picture[P, R]) setApart() {
	var names map[string]int
	for _, peer := range p.Peers {
		for name, others := range peer.Member.Apart {
			if names == nil {
				names = make(map[string]int, len(p.Roles))
				for i := range p.Roles {
					names[p.Roles[i].Name] = i
				}
			}
			if said, _ := peer.Member.Candidacy(name); said.Group != p.Name || !said.Spread {
				continue
			}
			if r, ok := names[name]; ok {
				for _, other := range others {
					p.keepApart(r, other, names)
				}
			}
		}
	}
}

func (p *Picture[P, R]) keepApart(r int, other string, names map[string]int) {
	if o, ok := names[other]; ok {
		if !slices.Contains(p.Roles[r].Apart, o) {
			p.Roles[r].Apart = append(p.Roles[r].Apart, o)
			p.Roles[o].Apart = append(p.Roles[o].Apart, r)
		}
		return
	}
	for m, peer := range p.Peers {
		for _, held := range peer.Holds {
			if held.Name == other && peer.Session() == held.Role.Session {
				if p.Roles[r].Avoid == nil {
					p.Roles[r].Avoid = make([]bool, len(p.Members))
				}
				p.Roles[r].Avoid[m] = true
			}
		}
	}
}

// In reports whether a member spreads any role in a group.
func In(m *record.Member, group string) bool {
	if m != nil {
		for _, said := range m.Roles {
			if said.Spread && said.Group == group {
				return true
			}
		}
	}
	return false
}

// Had reports whether an instance spread any role in the group.
func (p *Picture[P, R]) Had(instance string) bool {
	for m := range p.Members {
		if p.Members[m].Name == instance {
			return p.lists[p.said[m]].takes
		}
	}
	return false
}

// Place is the place of a role in the group.
func (p *Picture[P, R]) Place(r *view.Role[P, R]) (i int, ok bool) {
	k := p.known[r]
	if k == nil || k.place == Nobody {
		return 0, false
	}
	return k.place, true
}

// Index is the place of a member among those of the group.
func (p *Picture[P, R]) Index(peer *view.Peer[P, R]) (m int, ok bool) {
	m, ok = p.index[peer]
	return m, ok
}
