package protocol

import (
	"cmp"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// Config fixes what one machine does for its whole life. Durations are those of architecture.md;
// the caller has checked them against each other (TTL >= 3 Heartbeat, Margin leaves two heartbeats,
// TTL <= MaxTTL).
type Config struct {
	Instance string
	Class    record.Class
	Key      string // public key of the signer, written into every role record

	TTL       time.Duration // L: how long others must see our lease stand still before they may kill the session
	Heartbeat time.Duration
	OpTimeout time.Duration
	Margin    time.Duration // G: trust ends this long before others may act
	Grace     time.Duration // disconnected this long, terms end by themselves
	Delta     time.Duration // succession delay: rank k waits k times this
	Drain     time.Duration // after this, work that has not returned is reported as stuck
	CoolDown  time.Duration
	Rotation  time.Duration // 0: never
	MaxTTL    time.Duration // L_max of the bucket
	Adopted   bool          // the bucket was purged to a floor: what is absent may be led

	Capacity int // our weight among those that roles are spread over; 0: 1
	MaxRoles int // how many roles we lead at most; 0: any number

	Zone string // where we are; "": not known

	IdleFactor int
	// Retention is after how long the server removes a lease that stands idle. Default an hour.
	Retention time.Duration

	// The simulation has few roles, and the shortest way to the store. Zero stands for the figures
	// of together.go and window.go.
	Window       int           // how many role writes are in flight at first
	Together     int           // how many claims that wait may go together
	TogetherCost time.Duration // what that is assumed to take at least, before it was measured
	Vacancy      time.Duration // after this a role that nobody has claimed leaves the bucket
	Vacancies    int           // beside so many vacant roles one that nobody wants leaves at once; below 0: always

	NewID func() string  // fresh UUIDs for nonces and tokens
	Rand  func() float64 // in [0, 1), for jitter
}

func (c Config) withDefaults() Config {
	c.Window = cmp.Or(c.Window, firstWindow)
	c.Together = cmp.Or(c.Together, fromTogether)
	c.TogetherCost = cmp.Or(c.TogetherCost, togetherCost)
	c.Vacancy = cmp.Or(c.Vacancy, VacancyTTL)
	c.Vacancies = cmp.Or(c.Vacancies, manyVacancies)
	return c
}

// Bounds of what a configuration may ask for. All sums and products of durations in the rules fit a
// Duration within them: a cool-down doubles maxDoublings times, and a delay counts once for each
// candidate.
const (
	MaxDuration   = 365 * 24 * time.Hour
	MaxDelta      = time.Hour
	MaxIdleFactor = 100_000
)

// RoleConfig is how a machine takes part in one role.
type RoleConfig struct {
	Name            string
	Priority        int32
	Takeover        bool
	VacateUndrained bool // give the role away although the work of the last term has not returned

	Zones     []string      // the order of its tiers
	ZonesOnly bool          // nobody leads it elsewhere
	FailBack  time.Duration // for so long a better tier is there before it is given the role; 0: never

	Spread bool     // lead it evenly with the other roles of its group
	Group  string   // among which the loads are even
	Apart  []string // roles that we should not lead beside it, if somebody else may

	Condition uint64 // the term that it depends on, see the event of that name; 0: none
	WaitsFor  string // what others are told while that one does not last
}

const (
	retryBase   = 50 * time.Millisecond
	retryCap    = 5 * time.Second
	slowLane    = 30 * time.Second
	slowAfter   = 10
	explainTime = time.Second // a refusal that the view does not explain within it: rebuild the watch

	minLeaseRetention = time.Minute // server-side TTL of a live lease: garbage collection only
	idleRetention     = time.Hour   // of one that stands idle
	probeTTL          = time.Minute

	memberPace = 20 * time.Millisecond // idle traffic of M members stays below M/(M*memberPace) = 50 writes a second
)

// VacancyTTL is the server-side TTL of a vacancy: the name of a role that nobody has claimed since,
// and that nobody wants, is forgotten then.
const VacancyTTL = 24 * time.Hour

// manyVacancies is beside how many vacant roles one more that nobody wants leaves the bucket at
// once: people see what few roles were given up, and a process that starts reads no more of them
// than takes a moment.
const manyVacancies = 1000

// tombstone is the server-side TTL of the lease that tells that a session has ended.
func (c *Config) tombstone() time.Duration { return view.Tombstone(c.MaxTTL) }

// removal is the server-side TTL of a marker that proves nothing: over a member record, or over
// idle beats. A watch that comes later than by a lease time is replaced, and a snapshot tells what
// is gone without markers. So a process that starts is not shown one marker for each session that
// has just ended.
func (c *Config) removal() time.Duration { return c.TTL }

// backoff is the wait after n failures in a row: exponential from 50 ms to 5 s, +-10 %, after ten
// the slow lane.
func (c *Config) backoff(n int) time.Duration {
	if n >= slowAfter {
		return slowLane
	}
	d := min(retryBase<<max(n-1, 0), retryCap)
	return time.Duration(float64(d) * (0.9 + 0.2*c.Rand()))
}

// retention is the server-side TTL of a lease that stands idle. A third of it is much longer than
// its beats are apart.
func (c *Config) retention(ttl time.Duration) time.Duration {
	return max(cmp.Or(c.Retention, idleRetention), 10*ttl)
}

// margin is the part of a lease of length ttl in which its holder no longer trusts it. It grows
// with the lease, so that the bound on clock rates, G/L, is one and the same for short and for idle
// leases.
func (c *Config) margin(ttl time.Duration) time.Duration {
	if ttl == c.TTL {
		return c.Margin
	}
	return time.Duration(float64(c.Margin) * float64(ttl) / float64(c.TTL))
}

// idlePace is the interval and the lease time of a member that has nothing to do, among m members.
func (c *Config) idlePace(m int) (interval, ttl time.Duration) {
	interval = max(time.Duration(c.IdleFactor)*c.Heartbeat, time.Duration(m)*memberPace)
	ratio := float64(c.TTL) / float64(c.Heartbeat)
	interval = min(interval, time.Duration(float64(min(c.MaxTTL, record.MaxSupportedTTL))/ratio))
	ttl = time.Duration(float64(interval) * ratio).Truncate(time.Millisecond)
	if ttl < c.TTL {
		return c.Heartbeat, c.TTL
	}
	return interval, ttl
}

const (
	firstWindow = 64
	minWindow   = 8
	maxWindow   = 1024
)

const (
	maxTogether  = 1000 // the bound of the server
	fromTogether = 60   // fewer are never faster together
	// Claims that go together are assumed to take so long before that was measured. It is twice the
	// time that a file store took on an idle machine.
	togetherCost = 20 * time.Millisecond
	eachTogether = 20 * time.Microsecond

	costMemory = time.Minute // what a store took longer ago says nothing
)
