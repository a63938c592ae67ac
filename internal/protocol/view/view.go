package view

import (
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// View is what the watch has told of the bucket. Entries merge by revision and never go back, also
// when a new watch reads from a replica that lags. Roles are indexed by holder, so that the end of
// a session touches its own roles only.
//
// Nothing in the view has a clock of its own; Seen is when this process first saw a revision, on
// the observer's scale.
type View[P, R any] struct {
	MaxTTL time.Duration // what an unknown lease is waited for (L_max of the bucket)

	peers    map[record.Peer]*Peer[P, R]
	roles    map[string]*Role[P, R]
	peerList []*Peer[P, R] // the same, in the order of their first mention
	roleList []*Role[P, R]
	// forgotten are the peers that the present watch over everything has shown to be gone, if somebody
	// is to ask for them.
	forgotten  map[record.Peer]struct{}
	steers     map[string]*steer
	swept      record.Instant // when all peers were last looked at for what has left
	idlers     int            // other candidates whose lease stands idle
	vacancies  int            // roles whose record is a vacancy
	self       *Peer[P, R]    // our own slot, never forgotten; nil for an observer
	last       uint64         // the highest revision seen
	delivered  uint64         // the highest one of the present watch
	own        uint64         // if the present watch is split, the same of the one over workers
	known      uint64         // the highest one seen before the present watch was made
	single     bool           // the present watch is over a store with one replica
	regressed  bool           // the store has lost what was known
	gen        uint32         // counts watches: an entry that the present one did not deliver may be gone
	complete   bool           // one initial snapshot has arrived whole
	wide       bool           // the present watch carries every key
	split      bool           // the records of workers come by a watch of their own
	whole      bool           // and its snapshot has arrived whole
	ownIdle    bool           // it carries our own idle beats
	wholeSince record.Instant
	since      record.Instant
	// unread is until when somebody may trust a session whose lease is gone or cannot be read: it
	// may lead what its lease does not tell of any more.
	unread record.Instant

	doubt   doubt
	begun   record.Instant // when the present watch was begun to be made
	blind   bool           // what it delivers may be of a replica that lags, for however long
	reaches uint64         // its snapshot holds all up to here, at least
	lags    bool           // it has shown, for certain, an older state than was known before
	doubted bool           // older than was known when the doubt came up
	asked   bool           // a new watch was asked for because of the doubt
}

// PeerView is what is known of one session slot: its lease and its member record.
type Peer[P, R any] struct {
	Peer     record.Peer
	Revision uint64 // of the newest event of its lease
	Form     record.Form
	Lease    record.Lease
	Seen     record.Instant // since when its lease stands at Revision
	EndSeen  record.Instant // when a session of it was last seen to have ended
	lived    record.Instant // when a session of it was last seen to live, Never: not yet
	LastTTL  time.Duration  // of the last lease that could be read, or its last idle beat
	beat     idleBeat       // the last one of the lease as it stands

	Member         *record.Member // the newest that could be read; nil when there is none
	MemberRevision uint64
	MemberForm     record.Form

	// Booked is the latest session whose end something of ours waits for, see Book; 0 for none.
	Booked uint64

	Holds      []*Role[P, R]
	named      bool // by a role or a member record, before any lease of it was seen
	joined     bool // told of as a member
	place      int  // in the list of the view
	alarm      alarm
	gen        uint32
	memberGen  uint32
	MemberSeen uint64 // the last revision of its member record that a watch has delivered

	denied, memberDenied bool // the two do not stand as known, by a refused write
	older, memberOlder   bool // the present watch has shown them older than known
	Notes                P    // of the owner
}

// RoleView is what is known of one role.
type Role[P, R any] struct {
	Name     string
	Revision uint64
	Role     record.Role
	Seen     record.Instant // since when the record stands at Revision

	// The small fields are together, as in Role.
	Form     record.Form
	denied   bool // it does not stand as known, by a refused write
	gen      uint32
	eligible int32 // how many candidates were told of

	leader     string         // told of as its leader
	lastTTL    time.Duration  // of the last record that could be read
	Candidates []*Peer[P, R]  // whose member record names the role
	place      int            // in the holder's holds
	at         int            // in the list of the view
	Delivered  uint64         // the last revision that the present watch has delivered, 0: none
	Waits      record.Instant // nobody claims it before: somebody may lead it by a record that is lost
	Alarm      alarm
	led        record.Instant // the last sign of a leader that is not seen any more, Never: none
	Notes      R              // of the owner
}

func (p *Peer[P, R]) clock() *alarm { return &p.alarm }
func (r *Role[P, R]) clock() *alarm { return &r.Alarm }

// New returns an empty view of a bucket with that L_max.
func New[P, R any](maxTTL time.Duration) *View[P, R] {
	return &View[P, R]{MaxTTL: maxTTL, peers: map[record.Peer]*Peer[P, R]{}, roles: map[string]*Role[P, R]{}}
}

// Complete reports whether a whole snapshot has been seen: before that, absence means nothing.
func (v *View[P, R]) Complete() bool { return v.complete }

// CompleteSince is since when absence means something, ok whether it does.
func (v *View[P, R]) CompleteSince() (since record.Instant, ok bool) { return v.since, v.complete }

// Whole reports whether the snapshot of the present watch has arrived whole.
func (v *View[P, R]) Whole() bool { return v.whole }

// Delivered is the highest revision that the present watch has delivered, but for the records of
// workers if these come by a watch of their own.
func (v *View[P, R]) Delivered() uint64 { return v.delivered }

// Passed reports whether the watch over roles is known to have shown all that was written of them
// before a record that was delivered at that revision.
func (v *View[P, R]) Passed(revision uint64) bool { return !v.split || v.delivered > revision }

// Last is the highest revision the view has seen.
func (v *View[P, R]) Last() uint64 { return v.last }

// Peer returns what is known of p, or nil.
func (v *View[P, R]) Peer(p record.Peer) *Peer[P, R] { return v.peers[p] }

// Role returns what is known of a role, or nil.
func (v *View[P, R]) Role(name string) *Role[P, R] { return v.roles[name] }

// Peers is every peer of which something stands in the bucket. It is the view's own slice.
func (v *View[P, R]) Peers() []*Peer[P, R] { return v.peerList }

// Roles is every role that is mentioned, but for those that were forgotten. It is the view's own
// slice.
func (v *View[P, R]) Roles() []*Role[P, R] { return v.roleList }

// Session is the number of the session that the lease declares: the revision of its first write.
func (p *Peer[P, R]) Session() uint64 {
	if p.Lease.Session == 0 {
		return p.Revision
	}
	return p.Lease.Session
}

// Dead reports whether session s of peer p has ended for certain. Nothing but a later session, or
// an end declared at a later revision, is proof: not a marker, not a timer, not a missing key.
func (v *View[P, R]) Dead(p record.Peer, s uint64) bool {
	return v.peers[p].Ended(s)
}

// Ended reports that of a session of p, which is nil if nothing is known of it.
func (l *Peer[P, R]) Ended(s uint64) bool {
	if l == nil || l.Form != record.FormRecord {
		return false
	}
	if l.Lease.Alive() {
		return l.Session() > s
	}
	return l.Revision > s
}

// Closed reports whether session s of peer p is known to have ended with nothing of it at work: by
// its own process, or by another one while it was idle. False may also mean that its next session
// was seen first.
func (v *View[P, R]) Closed(p record.Peer, s uint64) bool {
	l := v.peers[p]
	return l != nil && l.Form == record.FormRecord && l.Lease.Session == s &&
		(l.Lease.State == record.Closed || l.Lease.State == record.Killed && l.Lease.AtRest)
}

// Belongs reports whether the member record is of the present session of p.
func (p *Peer[P, R]) Belongs() bool {
	return p.Member != nil && p.Form == record.FormRecord && p.Lease.Alive() && p.Member.Session == p.Session()
}

// Leader is the instance that holds r in a session not known to be dead, or "".
func (v *View[P, R]) Leader(r *Role[P, R]) string {
	if r == nil || r.Form != record.FormRecord || r.Role.Vacant || v.Dead(r.Role.Holder(), r.Role.Session) {
		return ""
	}
	return r.Role.ID
}

// peer returns the entry of p, made on first mention.
func (v *View[P, R]) peer(p record.Peer) *Peer[P, R] {
	e := v.peers[p]
	if e == nil {
		e = &Peer[P, R]{Peer: p, alarm: alarm{Never, Never}, lived: Never}
		v.peers[p] = e
		e.place = len(v.peerList)
		v.peerList = append(v.peerList, e)
	}
	return e
}

// Book notes that something of ours waits for the end of a session of p, unless that is known.
// Until then p is not forgotten, however little is known of it.
func (v *View[P, R]) Book(now record.Instant, p record.Peer, session uint64, n *News[P, R]) {
	if v.Dead(p, session) {
		return
	}
	e := v.peer(p)
	e.awaited(now)
	e.Booked = max(e.Booked, session)
	n.Peers = append(n.Peers, e)
}

// Own returns the entry of the owner's own slot, which is never forgotten.
func (v *View[P, R]) Own(p record.Peer) *Peer[P, R] {
	v.self = v.peer(p)
	return v.self
}

// Mention returns the entry of a role, made on first mention.
func (v *View[P, R]) Mention(name string) *Role[P, R] {
	r := v.roles[name]
	if r == nil {
		name = strings.Clone(name) // it may be a part of a subject
		r = &Role[P, R]{Name: name, Alarm: alarm{Never, Never}, led: Never}
		v.roles[name] = r
		r.at = len(v.roleList)
		v.roleList = append(v.roleList, r)
	}
	return r
}

func (p *Peer[P, R]) release(r *Role[P, R]) {
	last := len(p.Holds) - 1
	p.Holds[r.place] = p.Holds[last]
	p.Holds[r.place].place = r.place
	p.Holds[last] = nil
	p.Holds = p.Holds[:last]
}

func (r *Role[P, R]) Held() bool { return r.Form == record.FormRecord && !r.Role.Vacant }

// Vacancies counts the roles whose record is a vacancy.
func (v *View[P, R]) Vacancies() int { return v.vacancies }

func (r *Role[P, R]) vacancy() int { return toInt(r.Form == record.FormRecord && r.Role.Vacant) }

// LostUntil is until when the former leader of a role may still lead, if the record is gone or
// cannot be read. That came to be so at Seen or before. A leader that has not seen it leads for at
// most its lease time after that.
//
// Which lease time that is, the record does not tell any more. A watch may skip what was
// overwritten, so the last record that this process could read need not have been the last one
// written; but its writer had a live lease before, and has it still unless that was ended, or is
// gone or cannot be read itself. Our own is live too: so a process that waits for it has seen all
// leases that were live when the record was lost, as they stood then or later.
func (v *View[P, R]) LostUntil(r *Role[P, R]) record.Instant {
	ttl := v.UnreadTTL(r.lastTTL)
	for _, p := range v.peerList {
		if p.Form == record.FormRecord && p.Lease.State == record.Live {
			ttl = max(ttl, p.Lease.TTL())
		}
	}
	return max(r.Seen.Add(ttl), min(r.Seen.Add(v.MaxTTL), v.unread))
}

// cannotRead notes that the lease of p is gone or cannot be read. (Workers lead nothing.)
func (v *View[P, R]) cannotRead(now record.Instant, p *Peer[P, R]) {
	if p.Peer.Class == record.Candidate {
		v.unread = max(v.unread, now.Add(v.UnreadTTL(p.LastTTL)))
	}
}

// UnreadTTL is how long a record that is gone or cannot be read is waited for.
func (v *View[P, R]) UnreadTTL(last time.Duration) time.Duration {
	if last > 0 {
		return last
	}
	return v.MaxTTL
}

// Carried reports whether one watch over the whole bucket has itself delivered the record of a role
// at revision or later, and with its snapshot every member that was described before.
func (v *View[P, R]) Carried(role string, revision uint64) bool {
	r := v.roles[role]
	return v.wide && v.whole && r != nil && r.Delivered >= revision
}

// MemberDelivered reports whether the watch has shown the member record as it stands. An
// acknowledgement is not enough where the order against other records matters.
func (p *Peer[P, R]) MemberDelivered() bool {
	return p.Member != nil && p.MemberSeen >= p.MemberRevision
}

// Current reports whether the present watch has delivered the member record of p, or what replaced
// it, or it is known since.
func (v *View[P, R]) Current(p *Peer[P, R]) bool { return p.memberGen == v.gen }

// Workers counts the live worker-only sessions in view but our own: all of them where the watch
// carries every key.
func (v *View[P, R]) Workers() (n uint32) {
	for _, p := range v.peerList {
		if p.Peer.Class == record.Worker && p != v.self && p.Form == record.FormRecord && p.Lease.Alive() {
			n++
		}
	}
	return n
}

// Members counts the live sessions: every view has the candidates, and those that see the workers
// say how many they are.
func (v *View[P, R]) Members() int {
	candidates, workers := 0, uint32(0)
	for _, p := range v.peerList {
		if p.Peer.Class == record.Candidate && p.Form == record.FormRecord && p.Lease.Alive() {
			candidates, workers = candidates+1, max(workers, p.Lease.Workers)
		}
	}
	return candidates + int(workers)
}

// SeenLease reports whether any event of the lease at key has been seen; a lease that was seen to
// be gone counts.
func (v *View[P, R]) SeenLease(key string) bool {
	_, p, _ := record.ParseKey(key)
	if _, gone := v.forgotten[p]; gone {
		return true
	}
	known := v.peers[p]
	return known != nil && known.Form != record.FormNone
}

// SeenAll says that nobody will ask SeenLease of this watch any more: it need not remember who is
// gone.
func (v *View[P, R]) SeenAll() { v.forgotten = nil }
