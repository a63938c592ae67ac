package election

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/clock"
)

// SessionConfig configures a [Session]. Only Bucket is required. A zero field takes the default
// that its comment names; most durations follow from TTL.
type SessionConfig struct {
	// Bucket is the KV bucket where the sessions and roles of one trust domain live.
	Bucket string
	// BucketAutoCreate creates a missing bucket with Replicas (default 1) and Storage (default
	// file). Without it, a missing bucket is an error that names the command to create the bucket.
	// An existing bucket is never changed.
	//
	// Where a JetStream domain answers and Domain is empty, it creates nothing (ErrNoDomain).
	BucketAutoCreate bool
	Replicas         int
	Storage          jetstream.StorageType
	// MaxBytes bounds a bucket that is created. Some accounts require a bound (max_bytes_required).
	// A full bucket refuses heartbeats. Default 0: no bound; minimum 1 MiB.
	MaxBytes int64
	// BucketID, if set, pins the bucket: one with another id is refused with ErrOtherBucket.
	// "rolectl bucket id" prints the id. It cannot be used together with BucketAutoCreate.
	BucketID string
	// MinEpoch, if set, is an epoch that this bucket has given. A bucket whose last revision is below
	// it has gone back (a restored backup, a rollback), and is refused with ErrStoreRegressed. Keep
	// the largest epoch that you know outside the bucket. Default 0: nothing is compared.
	MinEpoch uint64
	// Domain is the JetStream domain that keeps the bucket. It is needed on leaf nodes, and
	// wherever several domains can be reached. Default "": the domain that answers without a
	// prefix.
	Domain string
	// APIPrefix is the prefix of a JetStream API that another account exports, such as
	// "JS.acme.API". Domain and APIPrefix cannot be used together.
	APIPrefix string

	// InstanceID names this process in the bucket. It must be unique among the live processes.
	// Default: the host name and eight random hex digits.
	InstanceID string
	// WorkerOnly opens a session that cannot campaign (ErrWorkerOnly). Any number of such sessions
	// costs the candidates nothing.
	WorkerOnly bool

	// TTL is how long other processes must see the lease of this session unchanged before they may
	// end it. Default 10 s, minimum 300 ms, maximum 1 h. The bucket may allow less: 2 min unless it
	// was made with more.
	TTL time.Duration
	// HeartbeatInterval is how often the lease is renewed. One heartbeat serves any number of
	// roles. Default TTL/5.
	HeartbeatInterval time.Duration
	// OpTimeout bounds one write. Default HeartbeatInterval/2.
	OpTimeout time.Duration
	// SafetyMargin is how long before others may end the lease this process stops trusting it.
	// Leadership stays exclusive as long as clock rates differ by less than SafetyMargin/TTL.
	// Default TTL/5.
	SafetyMargin time.Duration
	// DisconnectGracePeriod is how long the connection may be down before the terms of this process
	// end. Terms never outlive the lease. Default the larger of three heartbeats and 5 s, maximum a
	// year.
	DisconnectGracePeriod time.Duration
	// SuccessionDelay is how long each candidate waits for the candidate before it in line, a few
	// round trips, and for eight of them at most. A successor that has confirmed a handover gets one
	// heartbeat more. Default 20 ms, maximum 1 h.
	SuccessionDelay time.Duration
	// DrainTimeout is how long work may take to return after its context has ended; after that it
	// is reported as stuck. Default TTL, maximum a year.
	DrainTimeout time.Duration
	// CoolDown is how long a process that gave a role up does not claim the role again. It doubles
	// while the process keeps failing. Default TTL, maximum a year.
	CoolDown time.Duration
	// IdleFactor is how many heartbeat intervals lie between two heartbeats of a member that has
	// nothing to do. Default 5, maximum 100,000.
	IdleFactor int
	// RotationInterval is how often a running term gets a new epoch and token. Default 0: never,
	// maximum a year.
	RotationInterval time.Duration

	// MaxRoles is how many roles this process leads at most, in all groups, those included that
	// still drain. A role that only full processes could take is led by nobody, and an event.Fault
	// says so (ErrUnplaced). Default 0: no limit.
	MaxRoles int
	// Capacity is the share of this process in the roles that are spread, beside the others: one
	// with Capacity 2 leads twice as many as one with 1. Default 1, maximum 1000.
	Capacity int

	// Zone is where this process is, such as a data centre: a name like that of a role. It is
	// published in the member record. Default: the environment variable ROLES_ZONE; without it, the
	// zone is not known.
	Zone string

	// Meta is published in the member record.
	Meta map[string]string
	// Sinks receive every event, in order, from one goroutine that the session owns.
	Sinks []event.Sink

	clock clock.Clock
}

// RoleConfig says how a session takes part in one role.
type RoleConfig struct {
	// Role is the name of the role: letters, digits, - _ = / and dots between them.
	Role string
	// Priority orders candidates: the highest goes first. From -2³¹ to 2³¹-1.
	Priority int
	// AllowPriorityTakeover lets a leader of lower priority hand the role to this process. It needs
	// Priority > 0.
	AllowPriorityTakeover bool
	// VacateUndrained gives the role away DrainTimeout after the end of a term, even if the work
	// has not returned. Two processes may then work at once, and only fencing tokens keep their
	// effects apart.
	VacateUndrained bool

	// Zones are the zones in which the role is to be led, the best one first. A process in an earlier
	// zone claims before those in a later one, and all other processes come last. Within one zone
	// Priority decides, which is -524287 to 524287 then. All processes should name the same zones, 100
	// at most. Default: zones mean nothing for this role.
	Zones []string
	// ZonesOnly has nobody outside Zones lead the role, also if nobody else is there.
	ZonesOnly bool
	// FailBackAfter is for how long a process in a better zone must have been alive before this
	// process hands the role to it. It doubles with each hand-over that did not last as long, up to an
	// hour. It needs Zones. Default 0: the role stays; maximum a year.
	FailBackAfter time.Duration

	// Spread has the roles of one Group led evenly by the processes that take part in them: each
	// leads its share by Capacity, or one more. Leaders give roles away when processes join, a few at
	// a time and none twice within a TTL; the roles of one that has ended are dealt out. A role never
	// moves to a process with a lower Priority. A role without Spread stays where it is, and counts
	// as load of its Group.
	Spread bool
	// Group is the name of the roles among which the loads are even. Default "": all roles of the
	// bucket that have no other.
	Group string
	// Shards, if set, is how many roles the Group has. It is recorded in the bucket, and a process
	// that says another number is refused with ErrShardCount. The number of a group is final. It needs
	// Spread and Group.
	Shards int
	// Apart names roles that the leader of this one should not lead as well. It holds while another
	// process is eligible: a process that is alone leads both. It needs Spread, and one of the two
	// roles saying so is enough.
	Apart []string

	// While, if set, is the part of this process in another role, in this session or in one of another
	// bucket. This role is led only while that one is: the process claims it only then, and its term
	// ends with the term of the other one (ErrConditionEnded). [Term.Valid] is false as soon as
	// either is not trusted any more. It says nothing about other processes: several may lead the
	// other role, each in a bucket of its own, and one of them leads this one. An election that has
	// stopped never leads again. Roles cannot wait for each other, since the other election is made
	// before.
	While *Election

	// Lead is the work. It is called in its own goroutine when the role is won. ctx ends with the
	// term, and its cause says why. Return when ctx has ended. See [Election.Run] for what an
	// earlier return means.
	Lead func(ctx context.Context, t *Term) error
	// OnLeaderChange is called with the instance that leads, "" for none. The calls are in order,
	// from one goroutine that the session owns. A slow callback gets only the latest leader.
	OnLeaderChange func(leader string)

	// Health, if set, is called once per HeartbeatInterval, in its own goroutine. After
	// MaxConsecutiveFailures (default 3) failures in a row, this process is not eligible for the
	// role, and a leader steps down, until a check succeeds. A check that hangs counts as failing.
	Health                 HealthChecker
	MaxConsecutiveFailures int
	// ValidationInterval is how often a leader asks the server to confirm its leadership. The
	// leader steps down if the server disproves it. Default 0: never; minimum HeartbeatInterval,
	// maximum a year.
	ValidationInterval time.Duration
}

// Config configures a standalone [Election].
type Config struct {
	SessionConfig
	RoleConfig
}

// HealthChecker says whether this process is fit to lead.
type HealthChecker interface {
	// Check reports whether all is well. It should return when ctx ends, which is after one
	// HeartbeatInterval.
	Check(ctx context.Context) bool
}

// HealthCheckFunc makes a function a [HealthChecker].
type HealthCheckFunc func(ctx context.Context) bool

// Check calls f.
func (f HealthCheckFunc) Check(ctx context.Context) bool { return f(ctx) }

const (
	defaultTTL       = 10 * time.Second
	minTTL           = 300 * time.Millisecond
	minMaxBytes      = 1 << 20 // a bucket for some hundred records
	minGrace         = 5 * time.Second
	defaultDelta     = 20 * time.Millisecond
	defaultIdle      = 5
	defaultUnhealthy = 3

	zoneVariable = "ROLES_ZONE"
)

// withDefaults fills in what is zero.
func (c SessionConfig) withDefaults() SessionConfig {
	def := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	def(&c.TTL, defaultTTL)
	def(&c.HeartbeatInterval, c.TTL/5)
	def(&c.OpTimeout, c.HeartbeatInterval/2)
	def(&c.SafetyMargin, c.TTL/5)
	def(&c.DisconnectGracePeriod, max(3*c.HeartbeatInterval, minGrace))
	def(&c.SuccessionDelay, defaultDelta)
	def(&c.DrainTimeout, c.TTL)
	def(&c.CoolDown, c.TTL)
	if c.IdleFactor == 0 {
		c.IdleFactor = defaultIdle
	}
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.InstanceID == "" {
		c.InstanceID = defaultInstanceID()
	}
	c.Zone = cmp.Or(c.Zone, os.Getenv(zoneVariable))
	if c.clock == nil {
		c.clock = clock.System()
	}
	return c
}

func (c RoleConfig) withDefaults() RoleConfig {
	if c.MaxConsecutiveFailures == 0 {
		c.MaxConsecutiveFailures = defaultUnhealthy
	}
	return c
}
