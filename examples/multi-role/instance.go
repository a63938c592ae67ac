package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/metrics"
	"github.com/rolemanager/rolemanager/roles"
)

// roleNames are the roles, in the order in which they are shown.
var roleNames = []string{schedulerRole, metricsRole, networkRole}

// instance is one role manager with all that belongs to it, as if it were a process of its own: a network path, a
// connection, an identity, an HTTP endpoint. It shares nothing with its fellows in this process but the clock.
type instance struct {
	id        string
	fate      atomicFate
	link      *natsrun.Link
	manager   *roles.Manager
	scheduler *scheduler // the work of each role
	metrics   *collector
	network   *prober
	endpoint  *endpoint

	cancel context.CancelFunc
	done   chan struct{} // closed when the manager's Run has returned
	err    error         // what it returned; read after done
}

// newInstance makes instance i, counted from 0, and starts it. It contends for the roles at once; when it can do so is for
// the manager to find out.
func newInstance(c *cluster, i int) (*instance, error) {
	in := &instance{id: fmt.Sprintf("%s-%d", c.options.id, i+1), link: c.backbone.link(), done: make(chan struct{})}
	if err := in.assemble(c, i); err != nil {
		in.link.Close()
		return nil, fmt.Errorf("make instance %s: %w", in.id, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	in.cancel = cancel
	go func() { // joined by stop
		defer close(in.done)
		in.err = in.manager.Run(ctx)
		in.fate.meet(gaveUp)
	}()
	return in, nil
}

// assemble makes the parts: metrics, the manager with its three roles, and what the roles' work is.
func (in *instance) assemble(c *cluster, i int) (err error) {
	o, registry := c.options, prometheus.NewRegistry()
	counters, err := metrics.New(registry, metrics.WithInstanceLabel())
	if err != nil {
		return err
	}
	own := prometheus.WrapRegistererWith(prometheus.Labels{"instance_id": in.id}, registry)
	in.scheduler, in.metrics = &scheduler{job: c.job}, &collector{}
	if in.network, err = newProber(own); err != nil {
		return err
	}
	if in.endpoint, err = newEndpoint(registry, in.metrics); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			in.endpoint.close()
		}
	}()

	work := []lead{in.scheduler.lead, in.metrics.lead, in.network.lead}
	contended := make([]roles.Role, len(roleNames))
	for r, name := range roleNames {
		contended[r] = roles.Role{
			Name: name, Lead: c.history.record(in.id, work[r]),
			Priority: preference(i, r, o.instances), AllowPriorityTakeover: true,
		}
	}
	in.manager, err = roles.New(roles.Config{
		URL: c.backbone.url, NATSOptions: in.link.Options(),
		Bucket: o.bucket, BucketAutoCreate: true, Replicas: o.replicas,
		InstanceID: in.id, TTL: o.ttl,
		Meta:  map[string]string{metaURL: in.endpoint.url()},
		Sinks: []event.Sink{counters, c.history, c},
	}, contended...)
	if err != nil {
		return err
	}
	session := in.manager.Session()
	in.metrics.session, in.network.session = session, session
	return errors.Join(in.scheduler.attach(session, o), session.Attach("ping", in.network.answer))
}

// preference is the priority of instance i for role r: role 0 prefers instance 0, role 1 instance 1, and so on around;
// then the next instance, then the one after it. So the roles are spread, and spread again when one is gone.
func preference(i, r, instances int) int {
	return instances - ((i-r)%instances+instances)%instances
}

// vanish cuts the network path: from now on every byte in both directions is dropped. Nothing else is done. The instance
// is not told, and goes on until its own deadline tells it.
func (in *instance) vanish() {
	in.fate.meet(vanished)
	in.link.Cut()
}

// stop ends the manager gracefully and waits for it: the work drains, then the roles are handed over.
func (in *instance) stop() error {
	in.fate.meet(stopped)
	in.cancel()
	<-in.done
	in.link.Close()
	in.endpoint.close()
	if in.fate.is(vanished) {
		return nil // it could not say good-bye to anybody
	}
	return in.err
}
