package election

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/clock"
)

// SessionConfig configures a [Session]. Only Bucket is required; zero durations take the defaults that are named, all
// derived from TTL.
type SessionConfig struct {
	// Bucket is the KV bucket where the sessions and roles of one trust domain live.
	Bucket string
	// BucketAutoCreate makes the bucket when it is missing, with Replicas (1) and Storage (file). Without it a missing
	// bucket is an error that prints the command to make it. What exists is never changed.
	BucketAutoCreate bool
	Replicas         int
	Storage          jetstream.StorageType

	// InstanceID names this process in the bucket. It must be unique among the live ones; "" takes the host name and
	// eight random hex digits.
	InstanceID string
	// WorkerOnly opens a session that cannot campaign (ErrWorkerOnly): it costs the candidates nothing, however many there are.
	WorkerOnly bool

	// TTL is how long others must see the lease of this session stand still before they may end it (10 s; from 300 ms to
	// an hour, and never above what the bucket allows: 2 min unless it was made with more).
	TTL time.Duration
	// HeartbeatInterval is how often the lease is renewed (TTL/5). One heartbeat serves any number of roles.
	HeartbeatInterval time.Duration
	// OpTimeout bounds one write (HeartbeatInterval/2).
	OpTimeout time.Duration
	// SafetyMargin is how long before the lease may be ended by others this process stops believing in it (TTL/5).
	// Leadership stays exclusive as long as clock rates differ by less than SafetyMargin/TTL.
	SafetyMargin time.Duration
	// DisconnectGracePeriod is how long the connection may be down before terms end by themselves (the larger of three
	// heartbeats and 5 s); they never outlive the lease.
	DisconnectGracePeriod time.Duration
	// SuccessionDelay is how long each candidate lets the one before it go first (20 ms, a few round trips); whom a role was
	// handed to, and who has confirmed that, a heartbeat longer.
	SuccessionDelay time.Duration
	// DrainTimeout is when work that has not returned after its context ended is reported as stuck (TTL).
	DrainTimeout time.Duration
	// CoolDown is how long a process that gave a role up does not claim it again (TTL); it doubles while it keeps failing.
	CoolDown time.Duration
	// IdleFactor is how many heartbeats apart a member beats that has nothing to do (5).
	IdleFactor int
	// RotationInterval renews epoch and token of running terms (0: never).
	RotationInterval time.Duration

	// Meta is published in the member record.
	Meta map[string]string
	// Sinks receive every event, in order, from one goroutine of the session's own.
	Sinks []event.Sink

	clock clock.Clock
}

// RoleConfig says how a session takes part in one role.
type RoleConfig struct {
	// Role is the name of the role: letters, digits, - _ = / and dots between them.
	Role string
	// Priority orders candidates: the higher goes first. From -2³¹ to 2³¹-1.
	Priority int
	// AllowPriorityTakeover lets this process be handed the role by a leader of lower priority. Needs Priority > 0.
	AllowPriorityTakeover bool
	// VacateUndrained gives the role away DrainTimeout after the end of a term even though its work has not returned:
	// then two processes may work at once, and only fencing tokens keep their effects apart.
	VacateUndrained bool

	// Lead is the work. It is called in a goroutine of its own when the role is won; ctx ends with the term, and its
	// cause says why. Return when ctx has ended. See [Election.Run] for what an earlier return means.
	Lead func(ctx context.Context, t *Term) error
	// OnLeaderChange is told who leads, "" for nobody. Calls are in order, from one goroutine of the session's own; when
	// it is slow, it is told the latest only.
	OnLeaderChange func(leader string)

	// Health, when set, is asked every HeartbeatInterval, in a goroutine of its own. After MaxConsecutiveFailures (3)
	// in a row this process is not eligible for the role and a leader steps down, until a check succeeds. A check
	// that hangs counts as failing.
	Health                 HealthChecker
	MaxConsecutiveFailures int
	// ValidationInterval proves leadership to the server that often while leading, and steps down if it is disproved
	// (0: never; at least HeartbeatInterval).
	ValidationInterval time.Duration
}

// Config configures a standalone [Election].
type Config struct {
	SessionConfig
	RoleConfig
}

// HealthChecker says whether this process is fit to lead.
type HealthChecker interface {
	// Check reports whether all is well. It should return when ctx ends, which is after one HeartbeatInterval.
	Check(ctx context.Context) bool
}

// HealthCheckFunc makes a function a [HealthChecker].
type HealthCheckFunc func(ctx context.Context) bool

// Check calls f.
func (f HealthCheckFunc) Check(ctx context.Context) bool { return f(ctx) }

const (
	defaultTTL       = 10 * time.Second
	minTTL           = 300 * time.Millisecond
	minGrace         = 5 * time.Second
	defaultDelta     = 20 * time.Millisecond
	defaultIdle      = 5
	defaultUnhealthy = 3
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
