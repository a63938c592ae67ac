package electionsim

import "time"

// Plan is everything that is drawn for one schedule. The noise of the single messages comes from
// Seed; what a person wants to read, and rapid to shrink, stands here by itself.
type Plan struct {
	Seed    uint64
	Roles   int
	Members []MemberPlan
	Noise   Noise
	Faults  []Fault
	Sticky  bool // work that is stuck when the faults end never drains
	Single  bool // the bucket has one replica, which cannot lag
	// Claims go together as soon as two wait, and they wait as soon as one is on its way.
	Together bool
	// Each process has a guard, which ends its sessions when it crashes.
	Guarded bool
	// The roles are spread over the members: in one group, or, if it is sharded, in one that has a
	// name.
	Spread, Sharded bool
	Apart           bool // the first two roles are to be led by two members
	// The order of the zones, and for how long a better one is there before it is given a role back.
	Zones    []string
	FailBack time.Duration
	// The roles that depend on a term elsewhere, by bits.
	Depending int
}

// MemberPlan is one process.
type MemberPlan struct {
	TTL             time.Duration
	Rate            int64 // parts per million by which its clocks run fast
	Priorities      []int // by role
	Takeover        bool
	VacateUndrained bool
	Rotation        time.Duration
	Worker          bool
	Wide            bool // its watch carries workers too, as that of a scheduler does

	Capacity, MaxRoles int
	Without            int // the roles that it takes no part in, by bits
	Zone               string
}

// Noise is how the network and the watch treat single messages, in per mille.
type Noise struct {
	LostRequest, LostReply, Late, Slow int
	SlowWatch, Skip, Lag               int
	SlowDrain, Returns                 int
	Again                              int // answers that come a second time
}

// drift is by how many parts per million the fastest clock runs faster than the slowest.
func (p *Plan) drift() int64 {
	low, high := int64(0), int64(0)
	for _, m := range p.Members {
		low, high = min(low, m.Rate), max(high, m.Rate)
	}
	return high - low
}

// FaultKind names something that goes wrong, or that somebody does.
type FaultKind int

// The faults. Those of the second group are commands of operators and users, and weather.
const (
	Pause FaultKind = iota
	Suspend
	Crash
	Cut
	StallWatch
	KillWatch
	Blind // no watch delivers
	Deaf  // nothing arrives at all, while what it sends still does
	Mute  // from its next idle beat on its heartbeats land unanswered, and no watch delivers
	Storm

	Evict
	DeleteRole
	GarbleRole
	ExpireLease
	ExpireRenewal
	GarbleLease
	DeleteMember
	Orphan // everybody leaves a role, its leader by a crash, and takes part in it again after a while
	Wipe   // all that tells of a leader is lost, one after the other, while nothing reaches it
	Unseen // the same of the next leader whose lease is longer than the last one's, before any watch has shown its claim
	Duplicate

	StepDown
	Transfer
	PauseRole
	Sicken
	LeaveRole
	CloseSession
	Validate
	Describe
	KindCount
)

// Recreate deletes the bucket, and makes it again after a while. Hardly anything continues after it
// as before, so it is not drawn as often as the others.
const Recreate = KindCount

// GoBack is outside what the bucket is trusted with: it loses its newest writes. Less is promised
// then, so it is drawn in schedules of its own.
const GoBack = KindCount + 1

// Elsewhere makes a connection lead to another bucket of the same name. It is drawn in schedules of
// its own.
const Elsewhere = KindCount + 2

// Adopt makes an operator adopt the bucket. LatePurge is the purge of an adoption that was
// overtaken. They are drawn in schedules of their own.
const (
	Adopt     = KindCount + 3
	LatePurge = KindCount + 4
)

// RemoveRole makes everybody leave a role for longer than L_max, and an operator remove its record
// meanwhile. It is drawn in schedules of its own.
const RemoveRole = KindCount + 5

// Blame makes a process report that no idle session in its view answers, as a scheduler does whose
// messages are lost. It is drawn in schedules of its own.
const Blame = KindCount + 6

// Restore makes the bucket get lost, and an operator restore it from a backup after a while. It is
// drawn in schedules of its own.
const Restore = KindCount + 7

// Steer makes an operator drain a zone, or pause a role, for a while or until the end. It is drawn
// in schedules of its own.
const Steer = KindCount + 8

// StepClock makes the server's clock step ahead, by more than anything lives there. It is drawn in
// schedules of its own.
const StepClock = KindCount + 9

// Deny takes a permission from a process, which ends its session. It is drawn in schedules of its
// own.
const Deny = KindCount + 10

var kindNames = [...]string{
	"pause", "suspend", "crash", "cut", "stall watch", "kill watch", "blind", "deaf", "mute", "storm",
	"evict", "delete role", "garble role", "expire lease", "expire renewal", "garble lease", "delete member", "orphan",
	"wipe", "unseen", "duplicate",
	"step down", "transfer", "pause role", "sicken", "leave role", "close session", "validate", "describe",
	"recreate", "go back", "elsewhere", "adopt", "late purge", "remove role", "blame", "restore", "steer",
	"step clock", "deny",
}

func (k FaultKind) String() string { return kindNames[k] }

// Fault is one of them, at a time, to a process and a role, for a while.
type Fault struct {
	At   time.Duration
	Kind FaultKind
	Who  int
	Role int
	For  time.Duration
}

// Length is how long faults are made. MaxTTL is L_max of the simulated bucket: short, so that
// markers vanish within a run.
const (
	Length = 30 * time.Second
	MaxTTL = 8 * time.Second
)
