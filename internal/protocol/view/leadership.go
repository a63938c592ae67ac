package view

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Leadership is what a view tells of the leader of a role. It is for people: no rule asks for it.
type Leadership uint8

const (
	// Vacant: no session holds the role.
	Vacant Leadership = iota
	// Leading: a session holds the role, and its lease has moved within its TTL.
	Leading
	// Silent: a session holds the role and is not known to have ended. Its lease has not moved
	// within its TTL, is gone, or says that the session holds nothing.
	Silent
	// Dead: the session that holds the role has ended, and nobody has claimed the role yet.
	Dead
	// Unreadable: the record of the role cannot be read.
	Unreadable
)

// Leadership tells of the leader of r, as seen at now.
func (v *View[P, R]) Leadership(now record.Instant, r *Role[P, R]) Leadership {
	switch {
	case r.Form == record.FormGarbage, r.Form == record.FormNewer:
		return Unreadable
	case !r.Held():
		return Vacant
	case v.Dead(r.Role.Holder(), r.Role.Session):
		return Dead
	}
	p := v.peers[r.Role.Holder()]
	if v.Active(now, p) && p.Lease.State == record.Live && p.Session() == r.Role.Session {
		return Leading
	}
	return Silent
}

// LastSign is when the leader of r was last seen to live or, while nobody leads, its former leader
// was. Signs are the beats of the session that holds the role, and the record by which it gives the
// role up. ok is false when this view has seen no sign of either.
func (v *View[P, R]) LastSign(r *Role[P, R]) (at record.Instant, ok bool) {
	at = v.lastSign(r)
	return at, at != Never
}

// DeadSince is when r was seen to be held by a session that has ended: the later one of the record
// of r and of the end of that session. ok is false when r is not dead.
func (v *View[P, R]) DeadSince(r *Role[P, R]) (at record.Instant, ok bool) {
	if !r.Held() || !v.Dead(r.Role.Holder(), r.Role.Session) {
		return Never, false
	}
	return max(r.Seen, v.peers[r.Role.Holder()].EndSeen), true
}

func (v *View[P, R]) lastSign(r *Role[P, R]) record.Instant {
	if !r.Held() {
		return r.led
	}
	if p := v.peers[r.Role.Holder()]; p.Form == record.FormRecord && p.Session() == r.Role.Session {
		return p.lived
	}
	return r.led
}

// keepSigns notes the last signs of p as the leader of its roles, before another record of its
// lease is known.
func (v *View[P, R]) keepSigns(p *Peer[P, R]) {
	for _, r := range p.Holds {
		r.led = v.lastSign(r)
	}
}

// signs tells whether a record of a lease shows that its session lived when it was written: it is a
// beat, or the end that the session itself declares.
func signs(l *record.Lease) bool { return l.Alive() || l.State == record.Closed }

// keepSign notes at a change of r's record when the former leader was last seen to live.
func (v *View[P, R]) keepSign(now record.Instant, r *Role[P, R], form record.Form, next *record.Role) {
	switch held := r.Held(); {
	case form == record.FormRecord && !next.Vacant:
		if !held || next.Holder() != r.Role.Holder() || next.Session != r.Role.Session {
			r.led = Never // the sign of another leader is not one of this
		}
	case (form == record.FormRecord || form == record.FormRemoved) && held && !next.Forced && next.By == r.Role.ID &&
		!v.Dead(r.Role.Holder(), r.Role.Session):
		r.led = now
	case held:
		r.led = v.lastSign(r)
	}
}
