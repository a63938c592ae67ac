package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/event"
)

type electionCollectors struct {
	labels *labels

	isLeader, epoch, leaderSince, candidates, stuck, ttl, lastHeartbeat, connected *prometheus.GaugeVec
	// master is isLeader under the name that client-go uses, nil unless it is wanted.
	master *prometheus.GaugeVec

	transitions, attempts, failures, invalid *prometheus.CounterVec

	led, failover, heartbeat *prometheus.HistogramVec

	parts parts
}

func newElectionCollectors(l *labels) *electionCollectors {
	c := &electionCollectors{
		labels:      l,
		isLeader:    l.gauge("election_is_leader", "1 while this process leads the role, else 0.", "role"),
		epoch:       l.gauge("election_epoch", "Epoch of the role's last known term.", "role"),
		leaderSince: l.gauge("election_leader_since_timestamp_seconds", "When this process was promoted.", "role"),
		candidates:  l.gauge("election_candidates", "Members that would lead the role, the leader included.", "role"),
		stuck: l.gauge("election_stuck", "1 while work of an ended term has not returned within the drain timeout, else 0.",
			"role"),
		ttl: l.gauge("election_ttl_seconds", "TTL of the session."),
		lastHeartbeat: l.gauge("election_last_heartbeat_timestamp_seconds",
			"When the last acknowledged heartbeat was reported."),
		connected:   l.gauge("election_connection_status", "1 while connected to NATS, else 0."),
		transitions: l.counter("election_transitions_total", "Promotions and demotions of this process.", "role", "to"),
		attempts:    l.counter("election_acquire_attempts_total", "Claims of a role by this process.", "role", "outcome"),
		failures:    l.counter("election_failures_total", "Failures, by reason.", "role", "reason"),
		invalid: l.counter("election_token_validation_failures_total", "Validations that did not prove leadership.",
			"role"),
		led: l.histogram("election_leader_duration_seconds", "How long ended terms have lasted.", 0.25, 4, "role"),
		failover: l.histogram("election_failover_duration_seconds",
			"From the last sign of the former leader to the promotion of this process.", 0.001, 2.5, "role"),
		heartbeat: l.histogram("election_heartbeat_duration_seconds", "From sending a heartbeat to its answer.", 0.0001, 2.5,
			"outcome"),
	}
	if l.kubernetes {
		c.master = l.gauge("leader_election_master_status", "1 while this process leads the role of this name, else 0.",
			"name")
	}
	return c
}

func (c *electionCollectors) all() []prometheus.Collector {
	all := []prometheus.Collector{
		c.isLeader, c.epoch, c.leaderSince, c.candidates, c.stuck, c.ttl, c.lastHeartbeat, c.connected,
		c.transitions, c.attempts, c.failures, c.invalid, c.led, c.failover, c.heartbeat,
	}
	if c.master != nil {
		all = append(all, c.master)
	}
	return all
}

// ofRoles are the series that have the label role.
func (c *electionCollectors) ofRoles() []series {
	return []series{
		c.isLeader, c.epoch, c.leaderSince, c.candidates, c.stuck, c.transitions, c.attempts, c.failures,
		c.invalid, c.led, c.failover,
	}
}

// observe counts e, and reports whether e is an event that it counts.
func (c *electionCollectors) observe(e event.Event) bool {
	of := c.labels.values
	switch e := e.(type) {
	case event.RoleJoined:
		c.parts.join(e.Meta, e.Role)
		c.isLeader.WithLabelValues(of(e.Meta, e.Role)...) // 0 until it leads
		if c.master != nil {
			c.master.WithLabelValues(of(e.Meta, e.Role)...)
		}
		c.stuck.WithLabelValues(of(e.Meta, e.Role)...)
		if e.Epoch != 0 {
			c.epoch.WithLabelValues(of(e.Meta, e.Role)...).Set(float64(e.Epoch))
		}
	case event.RoleLeft:
		if c.parts.leave(e.Meta, e.Role, c.labels.instance) {
			c.forgetRole(e)
		}
	case event.RolePromoted:
		c.leads(e.Meta, e.Role, 1)
		c.epoch.WithLabelValues(of(e.Meta, e.Role)...).Set(float64(e.Epoch))
		c.leaderSince.WithLabelValues(of(e.Meta, e.Role)...).Set(seconds(e.Time))
		c.transitions.WithLabelValues(of(e.Meta, e.Role, "leader")...).Inc()
		if e.Gap > 0 {
			c.failover.WithLabelValues(of(e.Meta, e.Role)...).Observe(e.Gap.Seconds())
		}
	case event.RoleDemoted:
		c.leads(e.Meta, e.Role, 0)
		c.leaderSince.DeleteLabelValues(of(e.Meta, e.Role)...)
		c.transitions.WithLabelValues(of(e.Meta, e.Role, "follower")...).Inc()
		c.led.WithLabelValues(of(e.Meta, e.Role)...).Observe(e.Led.Seconds())
	case event.RoleDrained:
		c.stuck.WithLabelValues(of(e.Meta, e.Role)...).Set(0)
	case event.RoleRotated:
		c.epoch.WithLabelValues(of(e.Meta, e.Role)...).Set(float64(e.Epoch))
	case event.LeaderChanged:
		if e.Epoch != 0 && c.parts.has(e.Meta, e.Role) {
			c.epoch.WithLabelValues(of(e.Meta, e.Role)...).Set(float64(e.Epoch))
		}
	case event.CandidatesChanged:
		if c.parts.has(e.Meta, e.Role) {
			c.candidates.WithLabelValues(of(e.Meta, e.Role)...).Set(float64(e.Candidates))
		}
	case event.SessionOpened:
		c.ttl.WithLabelValues(of(e.Meta)...).Set(e.TTL.Seconds())
	case event.Heartbeat:
		c.heartbeat.WithLabelValues(of(e.Meta, c.labels.bound("outcome", e.Outcome))...).Observe(e.Duration.Seconds())
		switch e.Outcome {
		case event.OutcomeWon:
			c.lastHeartbeat.WithLabelValues(of(e.Meta)...).Set(seconds(e.Time))
		case event.OutcomeUnknown: // a refusal is an answer: SessionLost follows if the session is over
			c.fail(e.Meta, "", "heartbeat")
		}
	case event.ClaimAttempted:
		c.attempts.WithLabelValues(of(e.Meta, e.Role, c.labels.bound("outcome", e.Outcome))...).Inc()
		if e.Outcome == event.OutcomeUnknown { // a refusal is not a failure: another candidate was first
			c.fail(e.Meta, e.Role, "claim")
		}
	case event.TokenValidated:
		if !e.OK {
			c.invalid.WithLabelValues(of(e.Meta, e.Role)...).Inc()
		}
	case event.ConnectionChanged:
		c.connected.WithLabelValues(of(e.Meta)...).Set(number(e.Connected))
	default:
		return c.observeFailure(e)
	}
	return true
}

func (c *electionCollectors) observeFailure(e event.Event) bool {
	switch e := e.(type) {
	case event.SessionLost:
		c.fail(e.Meta, "", "session_lost")
	case event.WorkReturned:
		if e.Panic {
			c.fail(e.Meta, e.Role, "panic")
		} else {
			c.fail(e.Meta, e.Role, "work")
		}
	case event.CallbackPanicked:
		c.fail(e.Meta, e.Role, "panic")
	case event.RoleStuck:
		c.stuck.WithLabelValues(c.labels.values(e.Meta, e.Role)...).Set(1)
		c.fail(e.Meta, e.Role, "stuck")
	case event.FenceRejected:
		c.fail(e.Meta, e.Role, "fence")
	case event.RecordIgnored:
		c.fail(e.Meta, "", "record")
	case event.Fault:
		c.fail(e.Meta, e.Role, "fault")
	default:
		return false
	}
	return true
}

// leads sets whether this process leads a role.
func (c *electionCollectors) leads(m event.Meta, role string, is float64) {
	c.isLeader.WithLabelValues(c.labels.values(m, role)...).Set(is)
	if c.master != nil {
		c.master.WithLabelValues(c.labels.values(m, role)...).Set(is)
	}
}

func (c *electionCollectors) fail(m event.Meta, role, reason string) {
	c.failures.WithLabelValues(c.labels.values(m, role, reason)...).Inc()
}

// forget removes the gauges of a session that was closed.
func (c *electionCollectors) forget(m event.Meta) {
	c.parts.close(m)
	for _, g := range []*prometheus.GaugeVec{
		c.isLeader, c.epoch, c.leaderSince, c.candidates, c.stuck, c.ttl, c.lastHeartbeat, c.connected,
	} {
		g.DeletePartialMatch(c.labels.ofSession(m))
	}
	if c.master != nil {
		c.master.DeletePartialMatch(c.labels.ofSession(m))
	}
}

// forgetRole removes all series of a role: a process may come by any number of roles, and a role
// that is left must not look like one that nobody leads.
func (c *electionCollectors) forgetRole(e event.RoleLeft) {
	gone := c.labels.ofSession(e.Meta)
	gone["role"] = e.Role
	for _, s := range c.ofRoles() {
		s.DeletePartialMatch(gone)
	}
	if c.master != nil {
		gone = c.labels.ofSession(e.Meta)
		gone["name"] = e.Role
		c.master.DeletePartialMatch(gone)
	}
}

// series are those of one name.
type series interface {
	DeletePartialMatch(labels prometheus.Labels) int
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
