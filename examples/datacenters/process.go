package main

import (
	"context"
	"time"

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
}

// run takes part in the role of the site, which is named after it. The bucket is at the site, so a
// leader is there whatever happens to the way to the others.
func (p process) run(ctx context.Context) error {
	m, err := roles.New(
		roles.Config{
			URL: p.url, Bucket: p.site, Domain: p.site, BucketAutoCreate: true, InstanceID: p.id, TTL: ttl, Sinks: quiet,
		},
		roles.Role{Name: p.site, Lead: p.noted(p.leadSite)},
	)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// leadSite is the work of the leader of a site: it takes part in the role of all sites, for as long
// as it leads its own. That bucket has a replica at each site.
func (p process) leadSite(ctx context.Context, site *election.Term) error {
	plan := func(ctx context.Context, all *election.Term) error { return p.plan(ctx, site, all) }
	m, err := roles.New(
		roles.Config{
			URL: p.url, Bucket: everywhere, Domain: "hub", BucketAutoCreate: true, Replicas: 3, InstanceID: p.id,
			TTL: ttl, Zone: p.site, Sinks: quiet,
		},
		roles.Role{Name: planner, Zones: p.zones, FailBackAfter: settle, Lead: p.noted(plan)},
	)
	if err != nil {
		return err
	}
	return m.Run(ctx) // returns after the work of planner has returned: before another one leads the site
}

// plan is the work for all sites. ctx ends with the earlier one of the two terms.
func (p process) plan(ctx context.Context, site, all *election.Term) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if site.Valid() && all.Valid() { // by the clock, just before each step that must not be done twice
			p.journal.step(all.Epoch())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// quiet is instead of a log: the program tells what happens.
var quiet = []event.Sink{event.SinkFunc(func(event.Event) {})}

// noted is the work of a role, whose terms are written down for the report.
func (p process) noted(work lead) lead { return p.journal.keep(p, work) }
