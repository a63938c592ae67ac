package roles

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
)

// Config configures a [Manager]. Bucket and one of URL and Conn are required; what is zero takes the default that is
// named. All durations follow from TTL, so that setting TTL alone is right.
type Config struct {
	// URL is where NATS is, several servers separated by commas. Run connects, reconnects for as long as it runs, and
	// closes the connection at its end.
	URL string
	// NATSOptions are for that connection, such as nats.UserCredentials; they come last and win.
	NATSOptions []nats.Option
	// Conn is a connection to share, instead of URL. Nothing of it is reconfigured, and it is not closed.
	Conn *nats.Conn

	// Bucket is the KV bucket where the sessions and roles of one trust domain live.
	Bucket string
	// BucketAutoCreate makes the bucket when it is missing, with Replicas (1) and Storage (file). Without it a missing
	// bucket is an error that prints the command to make it. What exists is never changed.
	BucketAutoCreate bool
	Replicas         int
	Storage          jetstream.StorageType

	// InstanceID names this process. It must be unique among the live ones; "" takes the host name and eight random hex
	// digits.
	InstanceID string
	// WorkerOnly makes this process one that only runs tasks: it can take part in no role (election.ErrWorkerOnly), and costs the
	// candidates nothing, however many there are.
	WorkerOnly bool

	// TTL is how long others must see this process's lease stand still before they may take its roles (10 s; from
	// 300 ms). It bounds how long a role is without a leader after a crash.
	TTL time.Duration
	// HeartbeatInterval is how often the lease is renewed (TTL/5). One heartbeat serves all roles.
	HeartbeatInterval time.Duration
	// OpTimeout bounds one write (HeartbeatInterval/2).
	OpTimeout time.Duration
	// SafetyMargin is how long before others may take over this process stops believing that it leads (TTL/5).
	SafetyMargin time.Duration
	// DisconnectGracePeriod is how long the connection may be down before terms end by themselves (the larger of three
	// heartbeats and 5 s); they never outlive the lease.
	DisconnectGracePeriod time.Duration
	// SuccessionDelay is how long each candidate lets the one before it go first (20 ms); whom a role was handed to, and who has
	// confirmed that, a heartbeat longer.
	SuccessionDelay time.Duration
	// DrainTimeout is when work that has not returned after its context ended is reported as stuck, and how long Run
	// waits for it at its end (TTL).
	DrainTimeout time.Duration
	// CoolDown is how long a process that gave a role up does not claim it again (TTL); it doubles while it keeps failing.
	CoolDown time.Duration
	// IdleFactor is how many heartbeats apart a process beats that leads nothing (5).
	IdleFactor int
	// RotationInterval renews epoch and token of running terms (0: never).
	RotationInterval time.Duration

	// Meta is published in this process's member record.
	Meta map[string]string
	// Logger is told every event, see [LogSink]. With neither Logger nor Sinks, warnings and errors go to slog.Default(); with
	// Sinks alone nothing is logged but what a Sink logs, such as [SlogSink].
	Logger *zap.Logger
	// Sinks receive every event, in order, from one goroutine.
	Sinks []event.Sink
}

// Role is a role that this process contends for, and what it does while it leads.
type Role struct {
	// Name is the name of the role: letters, digits, - _ = / and dots between them.
	Name string
	// Priority orders candidates: the higher goes first. From -2³¹ to 2³¹-1.
	Priority int
	// AllowPriorityTakeover lets this process be handed the role by a leader of lower priority. Needs Priority > 0.
	AllowPriorityTakeover bool
	// VacateUndrained gives the role away DrainTimeout after the end of a term even though its work has not returned:
	// then two processes may work at once, and only fencing tokens keep their effects apart.
	VacateUndrained bool

	// Lead is the work, called when the role is won. It blocks until ctx ends, which is when the term does; context.Cause
	// says why it did. A return after that is never a failure. An earlier one gives the role up: nil until a cool-down is
	// over, an error or a panic for longer each time. [Fatal] makes Run return.
	Lead func(ctx context.Context, t *election.Term) error

	// OnPromote and OnDemote are another way to say what the work is; not together with Lead. OnPromote is called when
	// the role is won and may block; ctx ends with the term. OnDemote is called exactly once for each promotion, when the
	// term has ended. The term has drained when both have returned.
	OnPromote func(ctx context.Context, t fencing.Token)
	OnDemote  func()

	// OnLeaderChange is told who leads, "" for nobody: in order, and the latest only when it is slow.
	OnLeaderChange func(leader string)

	// Health is asked once per HeartbeatInterval, in a goroutine of its own. After MaxConsecutiveFailures (3) in a row a
	// leader steps down and a candidate is passed over, until a check succeeds. A check that hangs counts as failing.
	Health                 election.HealthChecker
	MaxConsecutiveFailures int
	// ValidationInterval proves leadership to the server that often while leading, and steps down if it is disproved
	// (0: never; at least HeartbeatInterval).
	ValidationInterval time.Duration
}

// session is the part of c that the session takes.
func (c Config) session() election.SessionConfig {
	return election.SessionConfig{
		Bucket: c.Bucket, BucketAutoCreate: c.BucketAutoCreate, Replicas: c.Replicas, Storage: c.Storage,
		InstanceID: c.InstanceID, WorkerOnly: c.WorkerOnly, TTL: c.TTL, HeartbeatInterval: c.HeartbeatInterval, OpTimeout: c.OpTimeout,
		SafetyMargin: c.SafetyMargin, DisconnectGracePeriod: c.DisconnectGracePeriod, SuccessionDelay: c.SuccessionDelay,
		DrainTimeout: c.DrainTimeout, CoolDown: c.CoolDown, IdleFactor: c.IdleFactor, RotationInterval: c.RotationInterval,
		Meta: c.Meta, Sinks: c.Sinks,
	}
}

// log is where the manager logs, nil for nowhere.
func (c Config) log() *logSink {
	switch {
	case c.Logger != nil:
		return newLogSink(zapOutput(c.Logger))
	case len(c.Sinks) == 0:
		return newLogSink(warningsOutput())
	}
	return nil
}

// campaign is the part of r that the election takes; the work is added by the manager.
func (r Role) campaign() election.RoleConfig {
	return election.RoleConfig{
		Role: r.Name, Priority: r.Priority, AllowPriorityTakeover: r.AllowPriorityTakeover, VacateUndrained: r.VacateUndrained,
		OnLeaderChange: r.OnLeaderChange, Health: r.Health, MaxConsecutiveFailures: r.MaxConsecutiveFailures,
		ValidationInterval: r.ValidationInterval,
	}
}
