package main

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/roles"
)

const (
	everywhere = "everywhere" // the bucket of all sites
	planner    = "planner"    // the role that one process of all sites leads
	ttl        = 3 * time.Second
	settle     = 2 * time.Second
)

// process is one of several at a site.
type process struct {
	site, id string
	zones    []string // all sites, the best one first
	url      string   // of a server of the site
	journal  *journal
	own      atomic.Pointer[election.Term] // the last one of the site
}

// run takes part in the role of the site, which is named after it, and in that of all sites.
func (p *process) run(ctx context.Context) error {
	// The bucket is at the site, so a leader is there whatever happens to the way to the others.
	here, err := roles.New(
		roles.Config{
			URL: p.url, Bucket: p.site, Domain: p.site, BucketAutoCreate: true, InstanceID: p.id, TTL: ttl, Sinks: quiet,
		},
		roles.Role{Name: p.site, Lead: p.noted(p.leadSite)},
	)
	if err != nil {
		return err
	}
	// This one has a replica at each site. A process claims planner only while it leads its site.
	all, err := roles.New(
		roles.Config{
			URL: p.url, Bucket: everywhere, Domain: "hub", BucketAutoCreate: true, Replicas: 3, InstanceID: p.id,
			TTL: ttl, Zone: p.site, Sinks: quiet,
		},
		roles.Role{
			Name: planner, While: roles.While(here, p.site), Zones: p.zones, FailBackAfter: settle, Lead: p.noted(p.plan),
		},
	)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return here.Run(ctx) })
	group.Go(func() error { return all.Run(ctx) })
	return group.Wait()
}

// leadSite is the work of the leader of a site.
func (p *process) leadSite(ctx context.Context, t *election.Term) error {
	p.own.Store(t)
	<-ctx.Done()
	return nil
}

// plan is the work for all sites. Its term is valid only until the earlier one of two deadlines:
// that of its own bucket, and that of the site's.
func (p *process) plan(ctx context.Context, t *election.Term) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		own := p.own.Load()
		stray := own != nil && !own.Valid() // and if t is still valid after that, it should not be
		if t.Valid() {                      // by the clock, just before each step
			p.journal.step(t.Epoch(), stray)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// quiet logs nothing: the program tells what happens.
var quiet = []event.Sink{roles.SlogSink(nil)}

// noted is the work of a role, whose terms are written down for the report.
func (p *process) noted(work lead) lead { return p.journal.keep(p, work) }
