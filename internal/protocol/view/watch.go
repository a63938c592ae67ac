package view

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Watch is what is known of a watch when it begins to deliver.
type Watch struct {
	Wide bool // it delivers every key
	// Split means that the records of workers come by a watch of their own. Each of the two is in
	// order, and there is no order between them.
	Split bool
	// OwnIdle means that it shows the idle beats at our own key, also those of another process of our
	// name, though it is not of every key.
	OwnIdle bool
	// Remember means that somebody is to ask SeenLease of it: of a watch over every key.
	Remember bool
	// Known is the highest revision seen when the making of this watch began, at Begun on the
	// observer's scale. 0 means that it is not known. The store has lost something if Last is
	// before Known, or if the watch delivers something older than was known of its key then; or a
	// replica lags.
	Known uint64
	Begun record.Instant
	// Last is the last revision of the store, by an answer that came after Begun; without an answer
	// it is Known. Told means that the store's leader answered. Single means that there is no other
	// replica, so nothing lags. Behind means that some replicas are not up to date, and the watch
	// may be of one of them.
	Last                 uint64
	Told, Single, Behind bool
}

// BeginWatch starts a new generation: what the coming snapshot does not deliver may be gone. If it
// is not wide the view forgets the workers but keep, whose records such a watch does not carry.
func (v *View[P, R]) BeginWatch(w Watch, keep record.Peer) {
	v.gen++
	v.delivered, v.own, v.known, v.single, v.whole, v.forgotten = 0, 0, w.Known, w.Single, false, nil
	v.wide, v.split = w.Wide, w.Split
	v.begun, v.blind, v.lags, v.doubted = w.Begun, !w.Told || w.Behind, false, false
	if v.reaches = 0; w.Single {
		v.reaches = w.Last
	}
	if v.blind && v.begun >= v.doubt.due() {
		v.doubt.again = v.begun.Add(BackPatience)
	}
	for _, r := range v.roleList {
		r.Delivered = 0
	}
	for _, p := range v.peerList {
		p.older, p.memberOlder = false, false
	}
	if w.Last < w.Known {
		v.noteOlder(w.Last+1, w.Told)
	}
	v.ownIdle = w.OwnIdle
	if w.Wide && w.Remember {
		v.forgotten = map[record.Peer]struct{}{}
	}
	if w.Wide {
		return
	}
	for i := len(v.peerList) - 1; i >= 0; i-- {
		if p := v.peerList[i]; p.Peer.Class == record.Worker && p.Peer != keep {
			v.drop(p)
		}
	}
}

// EndSnapshot marks what the snapshot did not hold as missing. A record newer than all that the
// snapshot is known to hold may just not have reached a replica that lags, and replicas may lag one
// after the other: it is missing only when the store has refused a write which expected it. A
// record that it shows older, and the store has refused, is not there either. Mostly that proves a
// loss in the end, but if the doubt cannot be settled in its time the older record is taken for the
// present one; again says that another watch is to show it. Not missing is the record of a role
// that an open write of ours may have replaced. A mistake here costs a refused write, never safety.
func (v *View[P, R]) EndSnapshot(now record.Instant, open func(*Role[P, R]) bool, n *News[P, R]) (again bool) {
	gone := func(class record.Class, gen uint32, revision uint64, denied bool) bool {
		reaches := max(v.delivered, v.reaches)
		if v.split && class == record.Worker {
			reaches = max(v.own, v.reaches)
		}
		return gen < v.gen && (denied || revision <= reaches)
	}
	unsettled := v.blind && v.doubt.known != 0 && v.begun >= v.doubt.due()
	lost := func(older, denied bool) bool { return older && denied && unsettled }
	for _, p := range v.peerList {
		if p.Form == record.FormNone && !v.complete {
			p.Seen = now // only now does its absence mean anything
		}
		if isLost := lost(p.older, p.denied); isLost || p.Form != record.FormNone && p.Form != record.FormMissing &&
			gone(p.Peer.Class, p.gen, p.Revision, p.denied) {
			if isLost {
				p.Revision, p.older, p.denied, again = 0, false, false, true
			}
			v.keepSigns(p)
			belonged := p.Belongs()
			if p.Form == record.FormRecord && !p.Lease.Alive() { // its tombstone has left
				v.setLease(p, record.FormNone, record.Lease{})
			} else {
				v.setLease(p, record.FormMissing, record.Lease{})
				v.cannotRead(now, p)
			}
			p.Seen = now
			v.offered(p, belonged, n)
			for _, r := range p.Holds {
				v.noticeLeader(r, n)
			}
			v.noticeMember(p, n)
		}
		switch {
		case lost(p.memberOlder, p.memberDenied):
			v.TakeBackMember(p, n)
			again = true
		case p.MemberForm != record.FormNone && p.MemberForm != record.FormMissing &&
			gone(p.Peer.Class, p.memberGen, p.MemberRevision, p.memberDenied):
			p.MemberForm = record.FormMissing
			v.setMember(p, nil, n)
		}
		n.Peers = append(n.Peers, p)
	}
	for _, r := range v.roleList {
		if r.Form != record.FormNone && r.Form != record.FormMissing && gone(record.Candidate, r.gen, r.Revision, r.denied) &&
			(open == nil || !open(r)) {
			form := record.FormMissing
			if r.Form == record.FormRemoved { // its marker has left, and it is what it was before
				form = record.FormNone
			}
			v.setRole(now, r, r.Revision, form, record.Role{}, n)
		}
		n.Roles = append(n.Roles, r)
	}
	v.dropSteers(n)
	for i := len(v.peerList) - 1; i >= 0; i-- {
		v.forget(now, v.peerList[i])
	}
	v.whole, v.wholeSince = true, now
	v.settleDoubt()
	if !v.complete {
		v.complete, v.since = true, now
	}
	return again
}
