package view

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Tombstone is how long the bucket keeps the closed or killed lease that tells that a session has
// ended. Every process that still leads has had a
// watch within L_max that showed it, twice L_max is enough, and the server's clock may be a second
// early. So sessions that ended leave nothing behind after some minutes.
func Tombstone(maxTTL time.Duration) time.Duration { return 2*maxTTL + time.Second }

// Sweep forgets the peers whose tombstone has left the bucket, which no watch tells. All peers are
// looked at, so that is done once in an L_max.
func (v *View[P, R]) Sweep(now record.Instant) {
	if now.Sub(v.swept) < v.MaxTTL {
		return
	}
	v.swept = now
	for i := len(v.peerList) - 1; i >= 0; i-- {
		v.forget(now, v.peerList[i])
	}
}

// forget drops a peer that nothing in the bucket speaks of any more, so that instance ids which
// come and go do not fill the memory. A dropped record could only have made somebody wait longer: a
// marker proves nothing, and nobody waits for a session whose tombstone was there for its time.
func (v *View[P, R]) forget(now record.Instant, p *Peer[P, R]) {
	if p == v.self || p.Member != nil || len(p.Holds) > 0 || p.Booked > 0 {
		return
	}
	switch p.Form {
	case record.FormGarbage, record.FormNewer:
		return
	case record.FormRecord:
		if p.Lease.Alive() || now.Sub(p.Seen) < Tombstone(v.MaxTTL) {
			return
		}
	}
	if v.peers[p.Peer] == p {
		v.drop(p)
		if v.forgotten != nil {
			v.forgotten[p.Peer] = struct{}{}
		}
	}
}

func (v *View[P, R]) drop(p *Peer[P, R]) {
	v.setLease(p, record.FormNone, record.Lease{})
	if p.Member != nil {
		for i := range p.Member.Roles {
			said := &p.Member.Roles[i]
			r := v.Mention(said.Role)
			v.count(r, p.offers(p.Member, p.Belongs(), &said.Candidacy), false, nil)
			r.Candidates = slices.DeleteFunc(r.Candidates, func(q *Peer[P, R]) bool { return q == p })
		}
	}
	last := v.peerList[len(v.peerList)-1]
	last.place = p.place
	v.peerList[p.place] = last
	v.peerList[len(v.peerList)-1] = nil
	v.peerList = v.peerList[:len(v.peerList)-1]
	delete(v.peers, p.Peer)
	p.Member = nil // a list that still has it finds nothing to do
}

// ForgetAt is from when a role may be forgotten, on the observer's scale: nothing stands in the
// bucket that speaks of it, and nobody leads it by a record that is lost. ok is false while
// something stands.
func (v *View[P, R]) ForgetAt(r *Role[P, R]) (due record.Instant, ok bool) {
	switch {
	case len(r.Candidates) > 0 || v.roles[r.Name] != r:
		return 0, false
	case r.Form == record.FormNone:
		return r.Waits, v.complete
	case r.Form == record.FormRemoved:
		due, _ = v.MarkerLeaves(r)
		return max(r.Waits, due), true
	case r.Form == record.FormMarker || r.Form == record.FormMissing:
		return max(r.Waits, r.Seen.Add(v.MaxTTL)), true
	}
	return 0, false
}

// MarkerLeaves is when the marker of a removed role has left the bucket for certain, which no watch
// tells. ok is false for any other role.
func (v *View[P, R]) MarkerLeaves(r *Role[P, R]) (due record.Instant, ok bool) {
	return r.Seen.Add(r.Role.TTL() + time.Second), r.Form == record.FormRemoved
}

// MarkerLeft takes in that it has: the role is what it was before anybody led it.
func (v *View[P, R]) MarkerLeft(now record.Instant, r *Role[P, R], n *News[P, R]) {
	v.setRole(now, r, r.Revision, record.FormNone, record.Role{}, n)
}

// ForgetRole drops a role, so that names which come and go do not fill the memory.
func (v *View[P, R]) ForgetRole(r *Role[P, R]) {
	last := v.roleList[len(v.roleList)-1]
	last.at = r.at
	v.roleList[r.at] = last
	v.roleList[len(v.roleList)-1] = nil
	v.roleList = v.roleList[:len(v.roleList)-1]
	delete(v.roles, r.Name)
}
