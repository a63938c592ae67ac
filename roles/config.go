package roles

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/rolemanager/rolemanager/discovery"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
)

// Config configures a [Manager]. Bucket and one of URL, Servers and Conn are required. A zero field
// takes the default that its comment names. Most defaults of durations follow from TTL, so it is
// enough to set TTL alone.
type Config struct {
	// URL is the address of NATS; several servers are separated by commas. Run connects, reconnects
	// for as long as it runs, and closes the connection at its end.
	URL string
	// Servers says where NATS is, instead of URL: package discovery has sources, such as a file, DNS
	// and Consul. Run waits for the first list. Later lists change where the connection goes when it
	// is lost. A connection whose server has left the list for 30 s and a random part of TTL moves to
	// one of the list, if one answers. A look-up that fails or is empty changes nothing, and is
	// reported as an event.Fault: to the log alone before the session is open, and to Sinks too from
	// then on.
	Servers discovery.Servers
	// Zone is where this process is, such as a data centre: a name like that of a role. It is
	// published in the member record. Servers of its zone are tried first. Default: the environment
	// variable ROLES_ZONE; without it, the zone is not known.
	Zone string
	// NATSOptions are further options for that connection, such as nats.UserCredentials. They are
	// applied last, so they override the manager's own options.
	NATSOptions []nats.Option
	// Conn is a connection to share, instead of URL. The manager does not reconfigure the
	// connection, and does not close it.
	Conn *nats.Conn

	// Bucket is the KV bucket where the sessions and roles of one trust domain live.
	Bucket string
	// BucketAutoCreate creates a missing bucket with Replicas (default 1) and Storage (default
	// file). Without it, a missing bucket is an error that names the command to create the bucket.
	// An existing bucket is never changed.
	//
	// Where a JetStream domain answers and Domain is empty, it creates nothing
	// (election.ErrNoDomain).
	BucketAutoCreate bool
	Replicas         int
	Storage          jetstream.StorageType
	// MaxBytes bounds a bucket that is created. Some accounts require a bound (max_bytes_required).
	// A full bucket refuses heartbeats. Default 0: no bound; minimum 1 MiB.
	MaxBytes int64
	// BucketID, if set, pins the bucket: one with another id is refused with
	// election.ErrOtherBucket. "rolectl bucket id" prints the id. It cannot be used together with
	// BucketAutoCreate.
	BucketID string
	// MinEpoch, if set, is an epoch that this bucket has given. A bucket whose last revision is below
	// it has gone back (a restored backup, a rollback), and is refused with
	// election.ErrStoreRegressed. Default 0: nothing is compared.
	MinEpoch uint64
	// Domain is the JetStream domain that keeps the bucket. It is needed on leaf nodes, and
	// wherever several domains can be reached. Default "": the domain that answers without a
	// prefix.
	Domain string
	// APIPrefix is the prefix of a JetStream API that another account exports, such as
	// "JS.acme.API". Domain and APIPrefix cannot be used together.
	APIPrefix string

	// InstanceID names this process. It must be unique among the live processes. Default: the host
	// name and eight random hex digits.
	InstanceID string
	// WorkerOnly makes this a process that only runs tasks. It cannot take part in a role
	// (election.ErrWorkerOnly). Any number of such processes costs the candidates nothing.
	WorkerOnly bool

	// TTL is how long other processes must see this process's lease unchanged before they may take
	// its roles. It bounds how long a role has no leader after a crash. Default 10 s, minimum 300
	// ms.
	TTL time.Duration
	// HeartbeatInterval is how often the lease is renewed. One heartbeat serves all roles. Default
	// TTL/5.
	HeartbeatInterval time.Duration
	// OpTimeout bounds one write. Default HeartbeatInterval/2.
	OpTimeout time.Duration
	// SafetyMargin is how long before others may take over this process stops believing that it
	// leads. Default TTL/5.
	SafetyMargin time.Duration
	// DisconnectGracePeriod is how long the connection may be down before the terms of this process
	// end. Terms never outlive the lease. Default the larger of three heartbeats and 5 s, maximum a
	// year.
	DisconnectGracePeriod time.Duration
	// SuccessionDelay is how long each candidate waits for the candidate before it in line. A
	// successor that has confirmed a handover gets one heartbeat more. Default 20 ms,
	// maximum 1 h.
	SuccessionDelay time.Duration
	// DrainTimeout is how long work may take to return after its context has ended; after that it
	// is reported as stuck. Run waits for the work for this long at its end. Default TTL,
	// maximum a year.
	DrainTimeout time.Duration
	// CoolDown is how long a process that gave a role up does not claim the role again. It doubles
	// while the process keeps failing. Default TTL, maximum a year.
	CoolDown time.Duration
	// IdleFactor is how many heartbeat intervals lie between two heartbeats of a process that leads
	// nothing. Default 5, maximum 100,000.
	IdleFactor int
	// RotationInterval is how often a running term gets a new epoch and token. Default 0: never,
	// maximum a year.
	RotationInterval time.Duration

	// MaxRoles is how many roles this process leads at most, those included that still drain. A role
	// that only full processes could take is led by nobody, and an event.Fault says so
	// (election.ErrUnplaced). Default 0: no limit.
	MaxRoles int
	// Capacity is the share of this process in the roles that are spread, beside the others: one
	// with Capacity 2 leads twice as many as one with 1. Default 1, maximum 1000.
	Capacity int

	// SystemdNotify tells systemd what this process does, if it was started by a unit of Type=notify:
	// ready when the session is open, which roles it leads, a sign of life (WatchdogSec=) while the
	// loop of the session runs, and that it needs time while it drains. A process has one such socket,
	// so set it for one Manager. Without NOTIFY_SOCKET in the environment it does nothing.
	SystemdNotify bool

	// Meta is published in this process's member record.
	Meta map[string]string
	// Logger logs every event, see [LogSink]. Without it, and without a [LogSink] or a [SlogSink] in
	// Sinks, warnings and errors go to slog.Default(), and so does the word that they are over.
	// SlogSink(nil) in Sinks turns that off.
	Logger *zap.Logger
	// Sinks receive every event, in order, from one goroutine.
	Sinks []event.Sink
}

// Role is a role that this process contends for, with the work that it does while it leads.
type Role struct {
	// Name is the name of the role: letters, digits, - _ = / and dots between them.
	Name string
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
	// leads its share by Config.Capacity, or one more. When a process joins, leaders give roles away,
	// a few at a time and none twice within a TTL. The roles of a process that has ended are dealt
	// out. A role never moves to a process with a lower Priority. A role without Spread stays where
	// it is, and counts as load of its Group.
	Spread bool
	// Group is the name of the roles among which the loads are even. Default "": all roles of the
	// bucket that have no other. [Shards] sets it.
	Group string
	// Apart names roles that the leader of this one should not lead as well. It holds while another
	// process is eligible: a process that is alone leads both. It needs Spread, and one of the two
	// roles saying so is enough.
	Apart []string

	// While has this process take part in the role only while it leads another one, see [While].
	// Default: the zero Condition, for no condition.
	While Condition

	// Lead is the work, called when the role is won. It must block until ctx ends. ctx ends with
	// the term, and context.Cause says why. A return after that is never a failure. An earlier
	// return gives the role up: nil until a cool-down is over, an error or a panic for longer each
	// time. [Fatal] makes Run return.
	Lead func(ctx context.Context, t *election.Term) error

	// OnPromote and OnDemote are another way to define the work. They cannot be used together with
	// Lead. OnPromote is called when the role is won and may block; ctx ends with the term.
	// OnDemote is called exactly once for each promotion, when the term has ended. The term has
	// drained when both callbacks have returned.
	OnPromote func(ctx context.Context, t fencing.Token)
	OnDemote  func()

	// OnLeaderChange is called with the instance that leads, "" for none. The calls are in order. A
	// slow callback gets only the latest leader.
	OnLeaderChange func(leader string)

	// Health is called once per HeartbeatInterval, in its own goroutine. After
	// MaxConsecutiveFailures (default 3) failures in a row, a leader steps down and a candidate is
	// passed over, until a check succeeds. A check that hangs counts as failing.
	Health                 election.HealthChecker
	MaxConsecutiveFailures int
	// ValidationInterval is how often a leader asks the server to confirm its leadership. The
	// leader steps down if the server disproves it. Default 0: never; minimum HeartbeatInterval,
	// maximum a year.
	ValidationInterval time.Duration

	shards  int  // how many the group has, if Shards has made this
	sharded bool // it has
}

// session is the part of c that the session takes.
func (c Config) session() election.SessionConfig {
	return election.SessionConfig{
		Bucket: c.Bucket, BucketAutoCreate: c.BucketAutoCreate, Replicas: c.Replicas, Storage: c.Storage,
		MaxBytes: c.MaxBytes, BucketID: c.BucketID, MinEpoch: c.MinEpoch,
		Domain: c.Domain, APIPrefix: c.APIPrefix,
		InstanceID: c.InstanceID, WorkerOnly: c.WorkerOnly, TTL: c.TTL, HeartbeatInterval: c.HeartbeatInterval,
		OpTimeout:    c.OpTimeout,
		SafetyMargin: c.SafetyMargin, DisconnectGracePeriod: c.DisconnectGracePeriod, SuccessionDelay: c.SuccessionDelay,
		DrainTimeout: c.DrainTimeout, CoolDown: c.CoolDown, IdleFactor: c.IdleFactor, RotationInterval: c.RotationInterval,
		MaxRoles: c.MaxRoles, Capacity: c.Capacity, Zone: c.Zone,
		Meta: c.Meta, Sinks: c.Sinks,
	}
}

// log is the log of the manager, nil when one of its sinks logs.
func (c Config) log() *logSink {
	switch {
	case c.Logger != nil:
		return newLogSink(zapOutput(c.Logger))
	case slices.ContainsFunc(c.Sinks, logs):
		return nil
	}
	return newLogSink(warningsOutput())
}

// campaign is the part of r that the election takes; the work is added by the manager.
func (r Role) campaign() election.RoleConfig {
	return election.RoleConfig{
		Role: r.Name, Priority: r.Priority, AllowPriorityTakeover: r.AllowPriorityTakeover,
		VacateUndrained: r.VacateUndrained, Zones: r.Zones, ZonesOnly: r.ZonesOnly,
		FailBackAfter: r.FailBackAfter, Spread: r.Spread, Group: r.Group, Shards: max(r.shards, 0), Apart: r.Apart,
		OnLeaderChange: r.OnLeaderChange, Health: r.Health, MaxConsecutiveFailures: r.MaxConsecutiveFailures,
		ValidationInterval: r.ValidationInterval,
	}
}
