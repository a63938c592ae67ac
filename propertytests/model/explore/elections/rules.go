package elections

import (
	"reflect"
	"strconv"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// firstRevision is far above every counter: so a number says by its size that it is a revision.
const firstRevision = 1 << 40

// omitted are the fields of the core that no decision is made upon, in these worlds. Everything
// else counts.
var omitted = map[string]string{
	"Machine.cfg":   "the same for the whole life of a process; members with different ones are not alike",
	"Machine.now":   "of the last step; each step brings its own",
	"View.peers":    "the same as peerList, by name",
	"View.roles":    "the same as roleList, by name",
	"Peer.place":    "follows from the order of peerList",
	"Role.at":       "follows from the order of roleList",
	"Role.place":    "follows from the order of holds",
	"set.place":     "follows from the order of the list",
	"Peer.joined":   "decides only what is told",
	"Role.leader":   "decides only what is told",
	"pending.at":    "only measures how long a write took",
	"pending.among": "the same, and more writes than these worlds have roles are measured",
	"Peer.lived":    "only told to people",
	"Role.eligible": "only told to people",
	"Role.led":      "only told to people",
	"claim.former":  "only measures how long a role was without a leader",
	"term.began":    "asked only when work has failed, which it does not here",
	"window.size":   "at least 8 writes, more than these worlds have roles",
	"Member.Meta":   "not set",
	"Member.Assign": "not set",
	"own.meta":      "not set",
	"own.assign":    "not set",
	"Machine.out":   "empty between steps",
	"News.Notices":  "empty between steps",
	"Role.Reason":   "a text for people",
	"Lease.By":      "a text for people",
	"Machine.share": "asked only behind eight others",

	"Picture.index": "follows from Picture.Peers",
	"Picture.lists": "says what Picture.Group says, or is read again",
	"Picture.said":  "goes with Picture.lists",
	"Picture.known": "follows from Picture.Names and Picture.lists",
	"Picture.wants": "follows from Picture.lists",

	"peerNotes.woken": "decides only what is told to another process, which is lost here",
}

// apart is what makes numbers.
var apart = map[string]string{"Machine.lastWrite": "makes the next write's id"}

// counters are numbers that matter by their order only, each process having its own.
var counters = map[string]snapshot.Class{
	"lease.beat": snapshot.Beat, "lease.acked": snapshot.Beat, "lease.idled": snapshot.Beat, "attempt.beat": snapshot.Beat,
	"pending.beat": snapshot.Beat, "Lease.Beat": snapshot.Beat, "IdleBeat.Beat": snapshot.Beat,
	"lease.written": snapshot.Beat, "lease.heard": snapshot.Beat, "idleBeat.number": snapshot.Beat,
	"openState.rivalAt": snapshot.Beat,
	"own.wanted":        snapshot.Version, "own.acked": snapshot.Version, "own.saying": snapshot.Version,
	"awaitedMember.version": snapshot.Version, "term.version": snapshot.Version, "pending.version": snapshot.Version,
}

func newRules(c *Config) *snapshot.Rules {
	var steady []snapshot.Class
	if c.Spread { // no members change places
		steady = []snapshot.Class{snapshot.Member}
	}
	return &snapshot.Rules{
		Steady:  steady,
		Frozen:  []reflect.Type{reflect.TypeFor[record.Member]()}, // never changed once decoded or sent
		Omitted: omitted, Apart: apart, Fields: counters,
		Clipped: map[string]int{"retry.failures": 11, "refusals.times": 6},
		Types:   map[reflect.Type]snapshot.Class{reflect.TypeFor[protocol.WriteID](): snapshot.Write},
		Instant: reflect.TypeFor[record.Instant](),
		Horizon: int64(time.Duration(max(c.MaxTTL, c.Drain)+2) * unit),
		Number: func(x uint64) (snapshot.Name, bool) {
			return snapshot.Name{Class: snapshot.Revision, Value: x - firstRevision}, x >= firstRevision && x < 1<<56
		},
		Text: nameIn,
		Hooks: map[reflect.Type]snapshot.Hook{
			reflect.TypeFor[record.Entry](): func(w *snapshot.Walk, x any, rest func()) {
				ownBeat(w, &x.(*record.Entry).Lease, x.(*record.Entry).Peer, rest)
			},
			reflect.TypeFor[protocol.PeerView](): func(w *snapshot.Walk, x any, rest func()) {
				p := x.(*protocol.PeerView)
				owner, beat := w.Owner, p.Lease.Beat // only copied into the record that kills it, where nobody reads it
				w.Owner, p.Lease.Beat = uint8(member(p.Peer.Instance)), 0
				rest()
				w.Owner, p.Lease.Beat = owner, beat
			},
		},
	}
}

// ownBeat lets the number of a beat be a name of whose lease it is; in the record of an ended
// session it means nothing.
func ownBeat(w *snapshot.Walk, l *record.Lease, p record.Peer, rest func()) {
	owner, beat := w.Owner, l.Beat
	if p.Instance != "" {
		w.Owner = uint8(member(p.Instance))
	}
	if !l.Alive() {
		l.Beat = 0
	}
	rest()
	w.Owner, l.Beat = owner, beat
}

// nameIn finds the names among texts: "=a" is a member, "#7" a token or a nonce.
func nameIn(s string) (snapshot.Name, bool) {
	switch {
	case len(s) == 2 && s[0] == '=':
		return snapshot.Name{Class: snapshot.Member, Value: uint64(member(s))}, true
	case len(s) > 1 && s[0] == '#':
		n, err := strconv.ParseUint(s[1:], 10, 56)
		if err != nil {
			panic("elections: what is the name " + s)
		}
		return snapshot.Name{Class: snapshot.ID, Value: n}, true
	}
	return snapshot.Name{}, false
}

func member(instance string) int { return int(instance[1] - 'a') }
