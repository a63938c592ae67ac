package protocol

import (
	"slices"
	"strings"
	"time"
)

// View is what the watch has told of the bucket. Entries merge by revision and never go back, also when a new watch reads
// from a replica that lags. Roles are indexed by holder, so that the end of a session touches its own roles only.
//
// Nothing in the view has a clock of its own; Seen is when this process first saw a revision, on the observer's scale.
type theView[P, R any] struct {
	MaxTTL time.Duration // what an unknown lease is waited for (L_max of the bucket)

	peers    map[Peer]*thePeer[P, R]
	roles    map[string]*theRole[P, R]
	peerList []*thePeer[P, R] // the same, in the order of their first mention
	roleList []*theRole[P, R]
	// forgotten are the peers that the present watch over everything has shown to be gone.
	forgotten map[Peer]struct{}
	self      *thePeer[P, R] // our own slot, never forgotten; nil for an observer
	last      uint64         // the highest revision seen
	delivered uint64         // the highest one of the present watch
	known     uint64         // the highest one seen before the present watch was made
	single    bool           // the present watch is over a store with one replica
	wentBack  bool           // the store has lost what was known
	gen       uint32         // counts watches: an entry that the present one did not deliver may be gone
	complete  bool           // one initial snapshot has arrived whole
	wide      bool           // the present watch carries every key
	whole     bool           // and its snapshot has arrived whole
	since     Instant
	// unread is until when somebody may believe in a session whose lease is gone or cannot be read: it may lead what its lease
	// does not tell of any more.
	unread Instant

	doubt   doubt
	begun   Instant // when the present watch was begun to be made
	blind   bool    // what it delivers may be of a replica that lags, for however long
	reaches uint64  // its snapshot holds all up to here, at least
	lags    bool    // it has shown, for certain, an older state than was known before
	doubted bool    // older than was known when the doubt came up
	asked   bool    // a new watch was asked for because of the doubt
}

// PeerView is what is known of one session slot: its lease and its member record.
type thePeer[P, R any] struct {
	Peer     Peer
	Revision uint64 // of the newest event of its lease
	Form     Form
	Lease    Lease
	Seen     Instant       // since when its lease stands at Revision
	endSeen  Instant       // when a session of it was last seen to have ended
	lastTTL  time.Duration // of the last lease that could be read

	Member         *Member // the newest that could be read; nil when there is none
	MemberRevision uint64
	MemberForm     Form

	holds      []*theRole[P, R]
	named      bool // by a role or a member record, before any lease of it was seen
	joined     bool // told of as a member
	place      int  // in the list of the view
	alarm      alarm
	gen        uint32
	memberGen  uint32
	memberSeen uint64 // the last revision of its member record that a watch has delivered

	denied, memberDenied bool // the two do not stand as known, by a refused write
	older, memberOlder   bool // the present watch has shown them older than known
	Notes                P    // of the owner
}

// RoleView is what is known of one role.
type theRole[P, R any] struct {
	Name     string
	Revision uint64
	Role     Role
	Seen     Instant // since when the record stands at Revision

	// What is small stands together, as in Role.
	Form   Form
	denied bool // it does not stand as known, by a refused write
	gen    uint32

	leader     string           // told of as its leader
	lastTTL    time.Duration    // of the last record that could be read
	candidates []*thePeer[P, R] // whose member record names the role
	place      int              // in the holder's holds
	delivered  uint64           // the last revision that the present watch has delivered, 0: none
	waits      Instant          // nobody claims it before: somebody may lead it by a record that is lost
	alarm      alarm
	Notes      R // of the owner
}

func (p *thePeer[P, R]) clock() *alarm { return &p.alarm }
func (r *theRole[P, R]) clock() *alarm { return &r.alarm }

// newView returns an empty view of a bucket with that L_max.
func newView[P, R any](maxTTL time.Duration) *theView[P, R] {
	return &theView[P, R]{MaxTTL: maxTTL, peers: map[Peer]*thePeer[P, R]{}, roles: map[string]*theRole[P, R]{}}
}

// Complete reports whether a whole snapshot has been seen: before that, absence means nothing.
func (v *theView[P, R]) Complete() bool { return v.complete }

// CompleteSince is since when absence means something, ok whether it does.
func (v *theView[P, R]) CompleteSince() (since Instant, ok bool) { return v.since, v.complete }

// Whole reports whether the snapshot of the present watch has arrived whole.
func (v *theView[P, R]) Whole() bool { return v.whole }

// Delivered is the highest revision that the present watch has delivered.
func (v *theView[P, R]) Delivered() uint64 { return v.delivered }

// Last is the highest revision the view has seen.
func (v *theView[P, R]) Last() uint64 { return v.last }

// Peer returns what is known of p, or nil.
func (v *theView[P, R]) Peer(p Peer) *thePeer[P, R] { return v.peers[p] }

// Role returns what is known of a role, or nil.
func (v *theView[P, R]) Role(name string) *theRole[P, R] { return v.roles[name] }

// Peers is every peer of which something stands in the bucket. It is the view's own slice.
func (v *theView[P, R]) Peers() []*thePeer[P, R] { return v.peerList }

// Roles is every role ever mentioned, in the order of the first mention. It is the view's own slice.
func (v *theView[P, R]) Roles() []*theRole[P, R] { return v.roleList }

// Session is the number of the session that the lease declares: the revision of its first write.
func (p *thePeer[P, R]) Session() uint64 {
	if p.Lease.Session == 0 {
		return p.Revision
	}
	return p.Lease.Session
}

// Dead reports whether session s of peer p has ended for certain. Nothing but a later session, or an end declared at a
// later revision, is proof: not a marker, not a timer, not a missing key.
func (v *theView[P, R]) Dead(p Peer, s uint64) bool {
	l := v.peers[p]
	if l == nil || l.Form != FormRecord {
		return false
	}
	if l.Lease.Alive() {
		return l.Session() > s
	}
	return l.Revision > s
}

// Closed reports whether session s of peer p is known to have been ended by its own process, with nothing of it at work any
// more. False may also mean that its next session was seen first.
func (v *theView[P, R]) Closed(p Peer, s uint64) bool {
	l := v.peers[p]
	return l != nil && l.Form == FormRecord && l.Lease.State == Closed && l.Lease.Session == s
}

// Active reports whether the lease of p declares a session and has moved within its time, as seen at now.
func (p *thePeer[P, R]) Active(now Instant) bool {
	return p.Form == FormRecord && p.Lease.Alive() && now.Sub(p.Seen) < p.Lease.TTL()
}

// Belongs reports whether the member record is of the present session of p.
func (p *thePeer[P, R]) Belongs() bool {
	return p.Member != nil && p.Form == FormRecord && p.Lease.Alive() && p.Member.Session == p.Session()
}

// Leader is the instance that holds r in a session not known to be dead, or "".
func (v *theView[P, R]) Leader(r *theRole[P, R]) string {
	if r == nil || r.Form != FormRecord || r.Role.Vacant || v.Dead(r.Role.Holder(), r.Role.Session) {
		return ""
	}
	return r.Role.ID
}

// peer returns the entry of p, made on first mention.
func (v *theView[P, R]) peer(p Peer) *thePeer[P, R] {
	e := v.peers[p]
	if e == nil {
		e = &thePeer[P, R]{Peer: p, alarm: alarm{never, never}}
		v.peers[p] = e
		e.place = len(v.peerList)
		v.peerList = append(v.peerList, e)
	}
	return e
}

// forget drops a peer that nothing in the bucket speaks of any more, so that instance ids which come and go do not fill
// the memory. What it takes away could only have made somebody wait longer: a marker is no proof of anything.
func (v *theView[P, R]) forget(p *thePeer[P, R]) {
	if p == v.self || p.Form == FormRecord || p.Form == FormGarbage || p.Form == FormNewer || p.Member != nil || len(p.holds) > 0 {
		return
	}
	if v.peers[p.Peer] == p {
		v.drop(p)
		if v.forgotten != nil {
			v.forgotten[p.Peer] = struct{}{}
		}
	}
}

func (v *theView[P, R]) drop(p *thePeer[P, R]) {
	if p.Member != nil {
		for name := range p.Member.Roles {
			r := v.Mention(name)
			r.candidates = slices.DeleteFunc(r.candidates, func(q *thePeer[P, R]) bool { return q == p })
		}
	}
	last := v.peerList[len(v.peerList)-1]
	last.place = p.place
	v.peerList[p.place] = last
	v.peerList[len(v.peerList)-1] = nil
	v.peerList = v.peerList[:len(v.peerList)-1]
	delete(v.peers, p.Peer)
	p.Form, p.Member = FormNone, nil // whoever still has it on a list finds nothing to do
}

// Own returns the entry of the owner's own slot, which is never forgotten.
func (v *theView[P, R]) Own(p Peer) *thePeer[P, R] {
	v.self = v.peer(p)
	return v.self
}

// Mention returns the entry of a role, made on first mention.
func (v *theView[P, R]) Mention(name string) *theRole[P, R] {
	r := v.roles[name]
	if r == nil {
		name = strings.Clone(name) // it may be a part of a subject
		r = &theRole[P, R]{Name: name, alarm: alarm{never, never}}
		v.roles[name] = r
		v.roleList = append(v.roleList, r)
	}
	return r
}

func (p *thePeer[P, R]) release(r *theRole[P, R]) {
	last := len(p.holds) - 1
	p.holds[r.place] = p.holds[last]
	p.holds[r.place].place = r.place
	p.holds[last] = nil
	p.holds = p.holds[:last]
}

func (r *theRole[P, R]) held() bool { return r.Form == FormRecord && !r.Role.Vacant }

// lostUntil is until when the former leader of a role may still believe whose record is gone or cannot be read: that came to be
// so at Seen or before, and for longer than its lease time after that nobody believes who has not seen it.
//
// Which lease time that is, the record does not tell any more. A watch may skip what was overwritten, so the last record that
// this process could read need not have been the last one written; but whoever wrote that had a live lease before, and has it
// still unless that was ended, or is gone or cannot be read itself. Our own is live too: so whoever waits for it has seen all
// leases that were live when the record was lost, as they stood then or later.
func (v *theView[P, R]) lostUntil(r *theRole[P, R]) Instant {
	ttl := v.unreadTTL(r.lastTTL)
	for _, p := range v.peerList {
		if p.Form == FormRecord && p.Lease.State == Live {
			ttl = max(ttl, p.Lease.TTL())
		}
	}
	return max(r.Seen.Add(ttl), min(r.Seen.Add(v.MaxTTL), v.unread))
}

// cannotRead notes that the lease of p is gone or cannot be read. (Workers lead nothing.)
func (v *theView[P, R]) cannotRead(now Instant, p *thePeer[P, R]) {
	if p.Peer.Class == Candidate {
		v.unread = max(v.unread, now.Add(v.unreadTTL(p.lastTTL)))
	}
}

// unreadTTL is how long a record that is gone or cannot be read is waited for.
func (v *theView[P, R]) unreadTTL(last time.Duration) time.Duration {
	if last > 0 {
		return last
	}
	return v.MaxTTL
}

// Carried reports whether one watch over the whole bucket has itself delivered the record of a role at revision or later,
// and with its snapshot every member that was described before.
func (v *theView[P, R]) Carried(role string, revision uint64) bool {
	r := v.roles[role]
	return v.wide && v.whole && r != nil && r.delivered >= revision
}

// MemberDelivered reports whether the watch has shown the member record as it stands. An acknowledgement is not enough
// where the order against other records matters.
func (p *thePeer[P, R]) MemberDelivered() bool {
	return p.Member != nil && p.memberSeen >= p.MemberRevision
}

// Current reports whether the present watch has delivered the member record of p, or what replaced it, or it is known since.
func (v *theView[P, R]) Current(p *thePeer[P, R]) bool { return p.memberGen == v.gen }

// workers counts the live worker-only sessions in view but our own: all of them where the watch carries every key.
func (v *theView[P, R]) workers() (n uint32) {
	for _, p := range v.peerList {
		if p.Peer.Class == Worker && p != v.self && p.Form == FormRecord && p.Lease.Alive() {
			n++
		}
	}
	return n
}

// members counts the live sessions: every view has the candidates, and those that see the workers say how many they are.
func (v *theView[P, R]) members() int {
	candidates, workers := 0, uint32(0)
	for _, p := range v.peerList {
		if p.Peer.Class == Candidate && p.Form == FormRecord && p.Lease.Alive() {
			candidates, workers = candidates+1, max(workers, p.Lease.Workers)
		}
	}
	return candidates + int(workers)
}

// SeenLease reports whether any event of the lease at key has been seen; a lease that was seen to be gone counts.
func (v *theView[P, R]) SeenLease(key string) bool {
	_, p, _ := ParseKey(key)
	if _, gone := v.forgotten[p]; gone {
		return true
	}
	known := v.peers[p]
	return known != nil && known.Form != FormNone
}

// SeenAll says that nobody will ask SeenLease of this watch any more: it need not remember who is gone.
func (v *theView[P, R]) SeenAll() { v.forgotten = nil }
