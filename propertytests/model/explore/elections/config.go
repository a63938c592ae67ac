package elections

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// unit is the grain of time: whatever happens, happens at a whole number of units on the clock of a
// process.
const unit = time.Second

// Config is one small configuration and how much may go wrong in it.
type Config struct {
	Name    string
	Members int
	Roles   int

	// Lead is by how many units one clock may run ahead of the slowest. Between any two moments two
	// clocks then disagree by 2*Lead at most, so a Margin of that many units is just enough.
	Lead int

	// In units.
	TTL, Heartbeat, Margin, OpTimeout, MaxTTL, Delta, CoolDown, Drain, Rotation int

	IdleFactor int
	Priorities []int // by member; equal ones are left out
	Takeover   bool
	Undrained  bool // roles are given away although work has not returned
	Spread     bool // the roles are spread over the members
	MaxRoles   int  // how many a member leads at most

	// Crashed begins where the first member, who leads, has crashed, and Paused where it is paused: so
	// many units after that as Silent says, or, if that is 0, where its session was ended and its
	// roles are led again. It may come back at any moment.
	Crashed, Paused bool
	Silent          int

	// Late are so many members, the last ones, that have joined no role when the world is settled.
	// They do at any later moment, and so does who is started again: until then a member is idle. With
	// 0 roles are joined at the start.
	Late int

	// Apart is how many units after the one before it each member is started, so that their hearts do
	// not beat at the same moment: where three do, the orders of that alone make two million states.
	// With 0 all start at once.
	Apart int

	// Gone is that nobody is started again who has crashed, or is closed.
	Gone bool

	// Units is after how many of them, by the slowest clock, time stands still: what needs no time
	// still happens. With 0 time passes for ever.
	Units int

	// Coarse takes a request, its arrival and its answer as one, and the delivery of all that a watch
	// has, unless a fault comes between. Else everything is interleaved with everything. doc.go says
	// which orders are lost.
	Coarse bool

	// Settled begins where every role is led, and not with processes that have just started.
	Settled bool

	Faults int // of all kinds together
	Most   map[Fault]int
}

// Fault is something that goes wrong, or that somebody asks for. The faults of one kind, and all
// together, are bounded; how long each lasts is not.
type Fault uint8

// The faults.
const (
	DelayRequest  Fault = iota // arrives at any later moment, maybe after it was given up, or never
	DelayReply                 // the same for its answer
	StallWatch                 // delivers late, or never, and may skip what was overwritten
	LagWatch                   // the snapshot of a new watch lacks the newest write
	SlowDrain                  // work continues after its term
	Crash                      // and maybe a new start with the same id
	Pause                      // does nothing while time passes
	Evict                      // an operator forces a role to be vacant
	WipeLease                  // a marker over a lease, live or not
	WipeRole                   // a marker over a role
	StepDown                   // asked of the leader
	Transfer                   // asked of it too, to another member
	Close                      // of a session, in order
	RepeatRequest              // reaches the bucket twice; the second answer comes late, or the first one does
	RepeatReply                // comes once more at any later moment
	RepeatWatch                // a new watch shows again what stands
	RepeatControl              // a question or a request to a member, or an answer, comes once more at any later moment
	Faults
)

var faultNames = [...]string{
	"delay a request", "delay a reply", "stall a watch", "lag", "slow drain", "crash", "pause", "evict", "wipe a lease",
	"wipe a role", "step down", "transfer", "close", "repeat a request", "repeat a reply", "repeat the watch",
	"repeat a control message",
}

func (f Fault) String() string { return faultNames[f] }

func (c *Config) most(f Fault) int {
	if n, ok := c.Most[f]; ok {
		return n
	}
	return 0
}

func (c *Config) priority(i int) int {
	if i < len(c.Priorities) {
		return c.Priorities[i]
	}
	return 0
}

// alike reports whether two members can change places. Roles that are spread are dealt out by the
// names of members, so none can then.
func (c *Config) alike(i, j int) bool { return !c.Spread && c.priority(i) == c.priority(j) }

func (c *Config) machine(i int, newID func() string) protocol.Config {
	units := func(n int) time.Duration { return time.Duration(n) * unit }
	return protocol.Config{
		Instance: instance(i), Class: record.Candidate, Key: "key",
		TTL: units(c.TTL), Heartbeat: units(c.Heartbeat), OpTimeout: units(c.OpTimeout), Margin: units(c.Margin),
		Grace: units(c.TTL), Delta: units(c.Delta), Drain: units(c.Drain), CoolDown: units(c.CoolDown),
		Rotation: units(c.Rotation), MaxRoles: c.MaxRoles, MaxTTL: units(c.MaxTTL), IdleFactor: max(c.IdleFactor, 1),
		NewID: newID, Rand: func() float64 { return 0.5 },
	}
}

func instance(i int) string { return "=" + string(rune('a'+i)) }

func roleName(i int) string { return "r" + string(rune('0'+i)) }
