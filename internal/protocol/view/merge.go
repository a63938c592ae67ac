package view

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// News collects what a merge has changed, for the owner of the view: a machine, or an observer
// that only tells.
type News[P, R any] struct {
	Roles   []*Role[P, R] // to be looked at again; may repeat
	Peers   []*Peer[P, R]
	Notices []Notice
	Steered []string // what operators have told something else about
}

// Reset empties n for reuse.
func (n *News[P, R]) Reset() {
	n.Roles, n.Peers, n.Notices, n.Steered = n.Roles[:0], n.Peers[:0], n.Notices[:0], n.Steered[:0]
}

// Deliver takes in an entry that the watch has delivered.
func (v *View[P, R]) Deliver(now record.Instant, e *record.Entry, n *News[P, R]) {
	if v.split && e.Peer.Class == record.Worker || e.Kind == record.KindIdle && !v.wide {
		v.own = max(v.own, e.Revision)
	} else {
		v.delivered = max(v.delivered, e.Revision)
	}
	var known uint64
	switch e.Kind {
	case record.KindLease:
		p := v.peer(e.Peer)
		known, p.gen = p.Revision, v.gen
		p.older, p.denied = e.Revision < known, p.denied && e.Revision != known
	case record.KindMember:
		p := v.peer(e.Peer)
		known, p.memberGen, p.MemberSeen = p.MemberRevision, v.gen, e.Revision
		p.memberOlder, p.memberDenied = e.Revision < known, p.memberDenied && e.Revision != known
	case record.KindRole:
		r := v.Mention(e.Name)
		known, r.gen, r.Delivered = r.Revision, v.gen, e.Revision
		r.denied = r.denied && e.Revision != known
	}
	switch {
	// It delivers each record that was known and there before the watch was made, or its
	// replacement. A write of ours that is acknowledged later may be known before the watch comes
	// to the record that it replaced.
	case e.Revision < known && known <= v.known:
		v.noteOlder(known, !v.blind)
	case e.Revision == known && v.differs(e):
		v.regressed = true
	}
	v.Merge(now, e, n)
}

// Merge takes in an entry, delivered or known from the acknowledgement of our own write. An old
// revision changes nothing.
func (v *View[P, R]) Merge(now record.Instant, e *record.Entry, n *News[P, R]) {
	switch e.Kind {
	case record.KindLease:
		v.mergeLease(now, e, n)
	case record.KindIdle:
		v.mergeIdle(now, e)
	case record.KindMember:
		v.mergeMember(now, e, n)
	case record.KindRole:
		v.mergeRole(now, e, n)
	case record.KindSteer:
		v.mergeSteer(now, e, n)
	}
}

// stale reports whether an entry tells nothing new. A key found missing by a lagging snapshot comes
// back as it was.
func stale(revision, known uint64, form record.Form) bool {
	gone := form == record.FormMissing || form == record.FormNone
	return revision < known || revision == known && !gone
}

func (v *View[P, R]) mergeLease(now record.Instant, e *record.Entry, n *News[P, R]) {
	p := v.peer(e.Peer)
	if stale(e.Revision, p.Revision, p.Form) {
		return
	}
	v.last, p.gen = max(v.last, e.Revision), v.gen
	belonged := p.Belongs()
	same := p.Form == record.FormRecord && e.Form == record.FormRecord && p.Lease.Nonce == e.Lease.Nonce && p.Lease.Alive()
	state := p.Lease.State
	if !same || !e.Lease.Alive() {
		p.EndSeen = now
		v.keepSigns(p)
	}
	if e.Form == record.FormRecord && signs(&e.Lease) {
		p.lived = now
	}
	v.setLease(p, e.Form, e.Lease)
	p.Revision, p.Seen, p.denied = e.Revision, now, false
	if e.Form != record.FormRecord {
		v.cannotRead(now, p)
	}
	if p.Booked > 0 && v.Dead(p.Peer, p.Booked) {
		p.Booked = 0
	}
	if p.Lease.Alive() {
		p.LastTTL = p.Lease.TTL()
		if same { // the common case: somebody lives; nothing depends on it but its own alarm
			if state != p.Lease.State {
				n.Peers = append(n.Peers, p)
			}
			return
		}
	}
	v.ignored(e, record.LeaseKey(p.Peer), n)
	n.Peers = append(n.Peers, p)
	for _, r := range p.Holds {
		v.noticeLeader(r, n)
		n.Roles = append(n.Roles, r)
	}
	v.noticeMember(p, n)
	v.offered(p, belonged, n)
	if p.Member != nil {
		for i := range p.Member.Roles { // its candidacies count, or no longer do
			n.Roles = append(n.Roles, v.Mention(p.Member.Roles[i].Role))
		}
	}
	v.forget(now, p)
}

func (v *View[P, R]) mergeMember(now record.Instant, e *record.Entry, n *News[P, R]) {
	p := v.peer(e.Peer)
	if stale(e.Revision, p.MemberRevision, p.MemberForm) {
		return
	}
	p.awaited(now)
	v.last, p.memberGen = max(v.last, e.Revision), v.gen
	p.MemberRevision, p.MemberForm, p.memberDenied = e.Revision, e.Form, false
	v.ignored(e, record.MemberKey(p.Peer), n)
	if e.Form != record.FormRecord {
		v.setMember(p, nil, n)
		v.forget(now, p)
		return
	}
	v.setMember(p, e.Member, n)
}

func (v *View[P, R]) mergeRole(now record.Instant, e *record.Entry, n *News[P, R]) {
	r := v.Mention(e.Name)
	if stale(e.Revision, r.Revision, r.Form) {
		return
	}
	v.last, r.gen = max(v.last, e.Revision), v.gen
	was, held, epoch := r.Role, r.Held(), uint64(0)
	if held {
		epoch = r.Revision
	}
	v.setRole(now, r, e.Revision, e.Form, e.Role, n)
	v.ignored(e, record.RoleKey(r.Name), n)
	written := was.Vacant && was.By == r.Role.By && was.Reason == r.Role.Reason // the same vacancy, again
	if r.vacancy() > 0 && !written || r.Form == record.FormRemoved && held {
		n.Notices = append(n.Notices, RoleVacant{r.Name, r.Role.By, r.Role.Reason, epoch})
	}
}

func (v *View[P, R]) setRole(now record.Instant, r *Role[P, R], revision uint64, form record.Form, rec record.Role,
	n *News[P, R],
) {
	former := v.peers[r.Role.Holder()]
	v.keepSign(now, r, form, &rec)
	if r.Held() {
		former.release(r)
	}
	v.vacancies -= r.vacancy()
	r.Revision, r.Form, r.Role, r.Seen, r.denied = revision, form, rec, now, false
	v.vacancies += r.vacancy()
	if form == record.FormRecord {
		r.lastTTL = rec.TTL()
	}
	if r.Held() {
		p := v.peer(rec.Holder())
		r.place = len(p.Holds)
		p.Holds = append(p.Holds, r)
		p.awaited(now)
		n.Peers = append(n.Peers, p)
	}
	if former != nil {
		v.forget(now, former)
	}
	n.Roles = append(n.Roles, r)
	v.noticeLeader(r, n)
}

// TakeBack takes back what is known of a role's record, which does not stand: whatever the watch
// shows of it counts again.
func (v *View[P, R]) TakeBack(now record.Instant, r *Role[P, R], n *News[P, R]) {
	v.setRole(now, r, 0, record.FormMissing, record.Role{}, n)
}

// TakeBackMember does that with a member record.
func (v *View[P, R]) TakeBackMember(p *Peer[P, R], n *News[P, R]) {
	p.MemberRevision, p.MemberForm, p.memberOlder, p.memberDenied = 0, record.FormMissing, false, false
	v.setMember(p, nil, n)
}

// Deny takes in that the store has refused a write of e because its key does not stand at that
// revision.
func (v *View[P, R]) Deny(e *record.Entry, revision uint64) {
	switch p, r := v.peers[e.Peer], v.roles[e.Name]; {
	case (e.Kind == record.KindLease || e.Kind == record.KindIdle) && p != nil: // the guard of an idle beat is the lease
		p.denied = p.denied || p.Revision == revision
	case e.Kind == record.KindMember && p != nil:
		p.memberDenied = p.memberDenied || p.MemberRevision == revision
	case e.Kind == record.KindRole && r != nil:
		r.denied = r.denied || r.Revision == revision
	}
}

// awaited starts the wait for a peer that is named while it has no lease.
func (p *Peer[P, R]) awaited(now record.Instant) {
	if p.Form == record.FormNone && !p.named {
		p.named, p.Seen = true, now
	}
}

func (v *View[P, R]) ignored(e *record.Entry, key string, n *News[P, R]) {
	switch e.Form {
	case record.FormGarbage:
		n.Notices = append(n.Notices, Ignored{key, e.Problem})
	case record.FormNewer:
		n.Notices = append(n.Notices, Ignored{key, record.ErrNewer.Error()})
	}
}

func (v *View[P, R]) noticeLeader(r *Role[P, R], n *News[P, R]) {
	if leader := v.Leader(r); leader != r.leader {
		r.leader = leader
		epoch := r.Revision
		if leader == "" {
			epoch = 0
		}
		n.Notices = append(n.Notices, LeaderChanged{r.Name, leader, epoch})
	}
}

func (v *View[P, R]) noticeMember(p *Peer[P, R], n *News[P, R]) {
	switch joined := p.Belongs(); {
	case joined && !p.joined:
		n.Notices = append(n.Notices, MemberJoined{p.Peer, p.Session()})
		p.joined = true
	case !joined && p.joined:
		reason := "gone"
		switch {
		// a closing member takes its record away first
		case p.Form == record.FormRecord && p.Lease.Alive() && p.Member == nil:
			reason = string(record.Closed)
		case p.Form == record.FormRecord && p.Lease.Alive():
			reason = "replaced"
		case p.Form == record.FormRecord:
			reason = string(p.Lease.State)
		}
		n.Notices = append(n.Notices, MemberLeft{p.Peer, reason})
		p.joined = false
	}
}
