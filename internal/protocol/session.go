package protocol

import (
	"math"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// lease is our own, from the first attempt to open a session to its end.
type lease struct {
	generation uint64 // counts the incarnations within this process
	nonce      string // the incarnation as others see it: only a record with our nonce is ours
	number     uint64 // of the session: the revision of its first write; 0 until open

	rev      uint64         // the highest revision known to be a beat of ours
	beat     uint64         // the number of the last attempt; every attempt takes a new one
	acked    uint64         // of the attempt that stands at rev
	written  uint64         // of the last attempt at the lease itself
	heard    uint64         // of the last beat beside the lease that is known to have landed
	aside    bool           // there was an attempt beside the lease
	renewAt  record.Instant // when a lease that stands idle is written again
	sent     record.Instant // when that was
	inflight bool
	// acknowledged is the revision of a beat that has won over nothing: it stands when the watch
	// has shown it.
	acknowledged uint64
	attempts     []attempt // whose landing is not yet history, oldest first

	// deadline is when this process stops trusting its session.
	//
	// Invariant: deadline <= (send time of the beat at rev) + its ttl - its margin. It counts from
	// the send: a slow reply must not lengthen a lease that others began to count earlier. The beat
	// with the highest revision decides, even an earlier deadline, since that record is what others
	// now wait for. An attempt that is not acknowledged never lengthens it, but one with a shorter
	// ttl shortens it: it may stand.
	deadline  record.Instant
	short     bool           // the beat at rev is a short one
	idled     uint64         // the last attempt that was not
	shown     record.Instant // send time of the newest beat that the watch has shown us
	seenShort record.Instant // the same of short ones

	nextBeat record.Instant
	interval time.Duration  // from the last beat to the next
	linger   record.Instant // stay on short beats until then
	retry    retry
	// an acknowledged beat waits to be seen, and the watch has shown nothing before it, since then;
	// 0: none
	unseenSince record.Instant
	unseenRev   uint64
}

type attempt struct {
	beat  uint64
	sent  record.Instant // holder's scale, before the write was handed out
	ttl   time.Duration
	short bool
	known uint64 // the highest revision known then
	on    uint64 // the revision of the lease that it is beside; 0: it is of the lease
}

const longAgo = record.Instant(math.MinInt64 / 2)

// awake reports whether what stands at our lease is a short beat for certain: the acknowledged one
// is, and no idle one was sent since. A short one sent after an idle one of which nothing is known
// proves nothing before it is acknowledged itself: the idle one may stand, and others may end what
// looks idle as soon as they want something that it holds.
func (l *lease) awake() bool { return l.short && l.acked > l.idled }

// own is our member record: what others may know of us beside that we live.
type own struct {
	wanted, acked uint64 // versions of what we want to say, and of what is known to stand there
	inflight      bool
	open          record.Instant // since when the outcome of a write is open, view.Never for none; observer's scale
	retry         retry
	restoreAt     record.Instant // not written before: others have changed what stood there
	left          uint64         // the marker over it that a refusal has shown to have left, by revision; 0: none
	said          *record.Member // the last one sent
	saying        uint64         // its version
	meta          map[string]string
	assign        map[string]record.Workplace
	told          map[string][]byte
	waiting       []awaitedMember
	tooLarge      bool // the server does not take it: nothing waits for it
}

type awaitedMember struct {
	command CommandID
	version uint64
}

// openState is what opening a session remembers.
type openState struct {
	lastSent record.Instant // observer's scale: when the last beat of the former session was sent
	lastTTL  time.Duration
	rival    string         // nonce of a live lease under our id that is not ours
	rivalRev uint64         // where it stood when we last looked: a new watch shows the same revision again
	rivalAt  uint64         // and the number of its last idle beat
	moves    int            // how often it has moved while we watched
	movedAt  record.Instant // observer's scale: when the last of these was seen, or one that did not count
	begun    uint64         // the last revision that the store had, or we knew of, when the watch began
	revoked  uint64         // where a lease of ours was last seen to be revoked
}

type closeState struct {
	asked    bool
	due      record.Instant // observer's scale: then it ends, drained or not
	farewell bool           // our member record is removed, or its removal was tried
	quiet    bool           // the same of our idle beats
	closed   string         // the nonce of the lease, when that is known to be closed
	retry    retry
}

// readyAsk is a leader's question whether we would take its role, until we can answer it.
type readyAsk struct {
	command CommandID
	role    string
	balance bool           // it would move for the sake of balance alone
	wake    bool           // nobody waits for the answer
	until   record.Instant // holder's scale
}

// proof is the question whether a term is the present one, of all who asked before it was sent. A
// heartbeat of the last interval proves that the session lives, and a write guarded by the role's
// revision that the role is still ours. Nothing less proves leadership now, and however many ask,
// there is one such write in flight for each role.
type proof struct {
	asking []question
	role   string
	term   uint64
	epoch  uint64 // that guards the write
	sent   bool
	tries  int
	after  record.Instant // not sent before; observer's scale
}

// question is one command that waits for a proof.
type question struct {
	command CommandID
	asked   record.Instant // holder's scale
}

// purpose says what a write is for, and so which rule receives its outcome.
type purpose uint8

const (
	forBeat purpose = iota + 1
	forIdleBeat
	forClose
	forMember
	forKill
	forReap
	forClaim
	forVacate
	forRotate
	forProof
	forFarewell
)

// pending is a write whose outcome is not known yet.
type pending struct {
	purpose purpose
	entry   record.Entry // what stands at the key if it wins, but for the revision
	expect  uint64       // the revision it replaces
	stood   uint64       // the highest revision known of that key when it was sent
	known   uint64       // and of any key: a write that wins at or below it proves that revisions went back
	session uint64       // ours when it was sent; an outcome that outlives its session concerns the view only
	at      record.Instant
	beat    uint64
	version uint64
	among   int // role writes in flight when it was sent, itself included
	peer    *PeerView
	role    *RoleView
	proof   *proof
}

// overNothing reports whether the condition of a write is that its key is absent. When such a write
// has won, the watch alone says that it stands: the connection may have been made to another bucket
// of this name since the condition was read, and there everything is absent. A revision, in
// contrast, is not the same in two buckets.
func (p *pending) overNothing() bool { return p.expect == 0 && p.purpose != forProof }

// standing is the revision a write must expect at a key, by what the view knows: a missing key is
// absent to the server.
func standing(form record.Form, revision uint64) uint64 {
	if form == record.FormNone || form == record.FormMissing {
		return 0
	}
	return revision
}

// retry paces the attempts at one thing, on the observer's scale.
type retry struct {
	after    record.Instant
	failures int32
	refused  bool   // the last outcome was a refusal that the view has not explained yet
	late     uint64 // the watch was behind when it was to have explained it: not before it has come here
	shown    uint64 // what the watch had delivered then; a watch that shows nothing more is not waited for
}

func (r *retry) waiting(now record.Instant) bool { return now < r.after }

// untold is the notice of a win over nothing that the watch has not shown yet.
type untold struct {
	revision uint64
	notice   Effect
}
