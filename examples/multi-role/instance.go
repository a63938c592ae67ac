package main

import (
	"context"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/metrics"
	"github.com/rolemanager/rolemanager/roles"
)

// lead is the work of a role.
type lead = func(ctx context.Context, t *election.Term) error

// config says what one instance, or one worker, is.
type config struct {
	ID         string              // unique among the members
	URL        string              // of the NATS server or cluster
	NATS       []nats.Option       // for the connection: credentials, TLS, a dialer
	Bucket     string              // where the roles are kept; it is the namespace of the tasks, too
	Replicas   int                 // of the bucket and of the stream of tasks
	TTL        time.Duration       // of the lease: after so long without a heartbeat, others take the roles
	Slots      int                 // tasks that run here at a time
	Listener   net.Listener        // serves HTTP; the other members are told its address
	Sinks      []event.Sink        // see every event
	Wrap       func(lead) lead     // goes around the work of each role, nil for nothing
	Middleware []assign.Middleware // goes around the handlers of tasks
}

// runInstance contends for the three roles and runs tasks until ctx ends. Then the work drains, and
// the roles are handed over.
func runInstance(ctx context.Context, c config) error {
	registry := prometheus.NewRegistry()
	manager, err := newManager(c, registry)
	if err != nil {
		return err
	}
	session := manager.Session()
	tasks, err := newTasks(session, c)
	if err != nil {
		return err
	}
	prober, err := newProber(session, registry)
	if err != nil {
		return err
	}
	federated := &federation{session: session}
	name, schedule := tasks.Role()
	err = manager.Add(
		c.role(name, schedule),
		c.role(metricsRole, federated.lead),
		c.role(networkRole, prober.lead))
	if err != nil {
		return err
	}
	pages := newPages(manager, registry)
	pages.Handle("GET /federate", federated)
	defer serve(c.Listener, pages)()
	return manager.Run(ctx)
}

// newManager makes the role manager of one process, still without roles. It has one connection, one
// session and one heartbeat.
func newManager(c config, registry *prometheus.Registry) (*roles.Manager, error) {
	counters, err := metrics.New(registry, metrics.WithInstanceLabel())
	if err != nil {
		return nil, err
	}
	return roles.New(roles.Config{
		URL: c.URL, NATSOptions: c.NATS,
		Bucket: c.Bucket, BucketAutoCreate: true, Replicas: c.Replicas,
		InstanceID: c.ID, TTL: c.TTL,
		Meta:  map[string]string{metaURL: "http://" + c.Listener.Addr().String()},
		Sinks: append([]event.Sink{counters}, c.Sinks...),
	})
}

// role is a role and its work. The roles are spread: each instance leads its share, or one more,
// and they are spread again when an instance comes or goes.
func (c config) role(name string, work lead) roles.Role {
	if c.Wrap != nil {
		work = c.Wrap(work)
	}
	return roles.Role{Name: name, Lead: work, Spread: true}
}
