package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/spread"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
	"github.com/rolemanager/rolemanager/internal/protocol/zone"
)

// role is our part in one role: how we take part, and the claim or the term we have.
type role struct {
	*RoleView

	priority  int32
	tier      int32 // of our zone
	rank      int32 // within all tiers
	zones     []string
	zonesOnly bool
	failBack  time.Duration
	barred    Cause      // why we may not lead it, 0: we may
	condition *condition // nil: it depends on nothing
	takeover  bool
	undrained bool // may be given away although the work of the last term has not returned

	group     *spreadGroup // nil: it is not spread
	groupName string
	apart     []string
	turned    bool // away: we had no room for it
	unplaced  bool // it is told of that only full members could take it

	paused     bool
	unhealthy  bool
	advertised bool           // what our member record says, or is about to say: eligible
	out        exclusion      // and if not, why
	failures   int32          // in a row, so that the cool-down grows
	coolUntil  record.Instant // observer's scale; not eligible before
	leaving    *leaving       // set: takes part no longer

	claim *claim
	term  *term
}

type leaving struct {
	command CommandID
	vacate  bool
}

// roleNotes is what the machine has under way for the record of a role, ours or not.
type roleNotes struct {
	queued   bool // to be looked at in this step
	queuing  bool // for a place among the writes in flight
	claiming bool // and what waits is a claim
	inflight bool // a claim, a vacate or a rotation
	mine     *role
	token    string // the last one that we wrote, or may have written, into the record
	known    uint64 // the highest revision known when we first did
	retry    retry
	rests    record.Instant // it is not moved for the sake of balance before, in a later term of ours neither
}

// eligible reports whether we would lead the role now. With work of a former term that does not
// return we could not.
func (r *role) eligible(now record.Instant) bool {
	if r.term != nil && r.term.stuck && !r.term.drained {
		return false
	}
	return !r.paused && !r.unhealthy && r.barred == 0 && r.condition.lasts() && r.leaving == nil && now >= r.coolUntil
}

// claim is a write of ours that would make us the leader, from its first sending until the watch or
// its acknowledgement has shown what became of it. Every attempt carries the same token and expects
// the same revision: whichever lands is ours.
type claim struct {
	expect uint64
	token  string
	handed bool // the vacancy named us as next
	backs  zone.History
	former record.Instant // the last sign of the former leader, Never: none was seen
	sent   record.Instant // when it was first sent, on the observer's scale
	alone  bool           // what became of it together with others is not known: it goes alone from now on
}

// term is one period of leadership, from winning the role to the moment it is given away. It ends
// in this order: trust (the machine and, by EndTerm, everybody who asks), the work and its
// callbacks (Drained), the record (vacate).
type term struct {
	id      uint64 // the epoch it began with, by which the driver knows it
	epoch   uint64
	token   string
	session uint64
	under   uint64         // the term that it depends on, 0: none
	began   record.Instant // observer's scale

	cause   Cause // set: trust has ended
	ended   record.Instant
	drained bool
	stuck   bool // told of as stuck
	given   bool // the record is another's, or a dead session's: nothing is left to give away
	evicted bool // by force
	next    string
	asked   record.Instant // when it was asked last whether it takes the role
	agreed  uint64         // the session in which it has agreed
	version uint64         // of the member record that must stand before the role is given away

	rotateAt record.Instant
	rotating string // the token of a rotation whose outcome is open

	rotatingSince record.Instant // observer's scale
	handover      handover
	present       zone.Present // the candidates of better tiers
	waiting       []CommandID  // told when it is over
}

func (t *term) leading() bool { return t.cause == 0 }

// handover is a leader's part in giving its role to somebody better, or to somebody named. It is
// never taken by force.
type handover struct {
	notBefore record.Instant // after a hand-over to us or a declined one, so that roles do not flap

	declined []string // instances that did not confirm; the others are asked before them

	rival string // the candidate that outranks us, and since when
	since record.Instant

	target  string // asked to confirm that it is ready; its answer is awaited
	cause   Cause
	command CommandID
}

// condition is that term, as we were told last. A role that depends on it is led only while it
// lasts, and each of our terms belongs to one of those: what is trusted is trusted until the
// earlier of both ends. So what we were told must not be extended by anything but the next word.
//
// It makes nobody eligible: who does not lead the one role does not claim the other.
type condition struct {
	id    uint64
	name  string // of the role, for people
	term  uint64
	until record.Instant
	parts int // the roles of ours that depend on it
}

// lasts reports whether the term lasts, and true for a role that depends on nothing.
func (c *condition) lasts() bool { return c == nil || c.term != 0 }

// present is that term, 0 for a role that depends on nothing.
func (c *condition) present() uint64 {
	if c == nil {
		return 0
	}
	return c.term
}

// spreadGroup is the roles among which the loads are even, and our plan of them. A plan is replaced
// when its members have changed. While nothing but its moves and claims is carried out it stays
// right, so that is looked at no more than once in a heartbeat.
type spreadGroup struct {
	name    string
	picture *spread.Picture[peerNotes, roleNotes]
	plan    spread.Plan
	vacant  int // how many roles were dealt out
	made    record.Instant
	row     int  // how many plans were made so soon after one another
	stale   bool // something of a role was written since
	wrong   bool // other members may take its roles since
	taken   bool // one that it deals out was claimed by another member than it says
	doubts  int  // how many plans are to deal out again what this one leaves to others

	doubted record.Instant // when others did not share a plan last
	changed record.Instant // since when members come and go
	settled record.Instant // nothing moves before

	moves    []spread.Move  // of our roles, to be made
	giving   []*role        // that are being moved
	again    record.Instant // when a move may be made that could not; Never: there is none
	declined map[string]refusals
}

// spreading is our part in the roles that are spread over the members. (Spread, in guarantees.)
type spreading struct {
	groups   []*spreadGroup  // of which we have roles, in the order in which they came
	promises spread.Promises // observer's scale
	turned   bool            // some roles were turned away since we have no room
}

// refusals is how often a target has said no, and until when it is left out for that.
type refusals struct {
	times int
	until record.Instant
}

// evacuation is the roles that we give away since our zone is drained, one after the other.
type evacuation struct {
	giving *role
	next   set[*role]
}

// undelivered is a record of a role that we take part in, which the present watch has not delivered
// yet.
type undelivered struct {
	revision uint64
	role     *RoleView
}

// peerNotes is what the machine has under way for a peer's records.
type peerNotes struct {
	queued    bool
	inflight  bool // a kill, or the removal of a dead member's record
	suspected bool // its time is up, as far as a late watch tells
	reaped    bool // the refused write was of the member record; else of the lease
	retry     retry
	stood     uint64         // what a refused write expected
	woken     record.Instant // not told before that it follows in a role; holder's scale
}

// explained reports whether the watch has shown since why the last write to the records of p was
// refused.
func explained(p *PeerView) bool {
	stands := p.Revision
	if p.Notes.reaped {
		stands = p.MemberRevision
	}
	return p.Notes.retry.refused && p.Notes.stood != stands
}

// The view of a machine, which keeps its own notes beside each peer and role: so ten thousand roles
// cost one object each.
type (
	View     = view.View[peerNotes, roleNotes]
	PeerView = view.Peer[peerNotes, roleNotes]
	RoleView = view.Role[peerNotes, roleNotes]
	News     = view.News[peerNotes, roleNotes]
)

// NewView returns an empty view of a bucket with that L_max.
func NewView(maxTTL time.Duration) *View { return view.New[peerNotes, roleNotes](maxTTL) }

// set is a set that is walked in an order which depends on nothing but the history of the machine,
// so that a simulation with one seed is one schedule.
type set[T comparable] struct {
	list  []T
	place map[T]int
}

func (s *set[T]) add(r T) {
	if s.has(r) {
		return
	}
	if s.place == nil {
		s.place = map[T]int{}
	}
	s.place[r] = len(s.list)
	s.list = append(s.list, r)
}

func (s *set[T]) remove(r T) {
	i, ok := s.place[r]
	if !ok {
		return
	}
	last := len(s.list) - 1
	s.list[i] = s.list[last]
	s.place[s.list[i]] = i
	var none T
	s.list[last] = none
	s.list = s.list[:last]
	delete(s.place, r)
}

func (s *set[T]) has(r T) bool {
	_, ok := s.place[r]
	return ok
}

func (s *set[T]) len() int { return len(s.list) }

// clear empties the set and returns what was in it.
func (s *set[T]) clear() []T {
	list := s.list
	*s = set[T]{}
	return list
}
