package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/event"
)

// Metrics is an event.Sink that keeps Prometheus metrics. It is the one prometheus.Collector of all
// its metrics, so that Unregister of a registry removes them together. It may be used concurrently
// and by several sessions.
type Metrics struct {
	labels   *labels
	election *electionCollectors
	assign   *assignCollectors
}

var (
	_ event.Sink           = (*Metrics)(nil)
	_ prometheus.Collector = (*Metrics)(nil)
)

// Option changes what [New] makes.
type Option func(*labels)

// WithInstanceLabel adds the label instance_id to every metric, with the instance that reports it.
// Several instances in one process need this label to share a Metrics. Otherwise leave it out:
// Prometheus labels each process itself, and a generated instance id makes new series at each
// start.
func WithInstanceLabel() Option {
	return func(l *labels) { l.instance = true }
}

// WithKubernetesNames adds the gauge leader_election_master_status, with the role as its label
// name: dashboards and alerts that were made for client-go then show roles too. A program that also
// registers the metrics of client-go itself has that name already, and [New] returns an error.
func WithKubernetesNames() Option {
	return func(l *labels) { l.kubernetes = true }
}

// New makes the collectors and registers them all, or none.
//
// It returns an error when reg already holds the collectors or one of their names; a
// prometheus.AlreadyRegisteredError is in the error's chain if that is the cause. In this case
// share one Metrics, with [WithInstanceLabel], or give each Metrics its own registerer, made with
// prometheus.WrapRegistererWith.
func New(reg prometheus.Registerer, opts ...Option) (*Metrics, error) {
	if reg == nil {
		return nil, errors.New("metrics: no registerer: pass prometheus.DefaultRegisterer or a registry of your own")
	}
	l := new(labels)
	for _, opt := range opts {
		opt(l)
	}
	m := &Metrics{labels: l, election: newElectionCollectors(l), assign: newAssignCollectors(l)}
	if err := reg.Register(m); err != nil {
		return nil, fmt.Errorf("metrics: register collectors (share one Metrics between managers): %w", err)
	}
	return m, nil
}

// Observe counts e. It ignores events that are part of no metric.
func (m *Metrics) Observe(e event.Event) {
	if m.election.observe(e) || m.assign.observe(e) {
		return
	}
	if closed, ok := e.(event.SessionClosed); ok {
		m.election.forget(closed.Meta)
		m.assign.forget(m.labels.ofSession(closed.Meta))
	}
}

// Describe is called by the registry.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(ch)
	}
}

// Collect is called by the registry.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(ch)
	}
}

func (m *Metrics) all() []prometheus.Collector {
	return append(m.election.all(), m.assign.all()...)
}
