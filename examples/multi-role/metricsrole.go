package main

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/rolemanager/rolemanager/election"
)

const (
	metricsRole = "metrics"
	metaURL     = "http" // key in a member's Meta: where its endpoints are
	scrapePace  = 500 * time.Millisecond
)

// collector is the work of the metrics role: its leader asks the Prometheus endpoint of every member, and serves all of
// them as one.
type collector struct {
	session *election.Session
	latest  atomic.Pointer[collection] // nil while not leading
}

// collection is one round over all members.
type collection struct {
	families []*dto.MetricFamily
	err      error // what could not be merged
	answered int   // members that did
	asked    int   // members with an endpoint
}

// lead is a Role.Lead.
func (c *collector) lead(ctx context.Context, _ *election.Term) error {
	defer c.latest.Store(nil)
	tick := time.NewTicker(scrapePace)
	defer tick.Stop()
	for {
		if round := c.collect(ctx); ctx.Err() == nil {
			c.latest.Store(round)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// collect asks every member, all at once: one that hangs delays the others by scrapeTimeout at most.
func (c *collector) collect(ctx context.Context) *collection {
	members := slices.DeleteFunc(c.session.Members(), func(m election.MemberInfo) bool { return m.Meta[metaURL] == "" })
	answers := make([]scraped, len(members))
	var asked sync.WaitGroup
	for i, m := range members {
		asked.Go(func() { answers[i], _ = scrape(ctx, m.Meta[metaURL]+"/metrics") })
	}
	asked.Wait()
	answers = slices.DeleteFunc(answers, func(a scraped) bool { return a == nil })
	families, err := merge(answers)
	return &collection{families: families, err: err, answered: len(answers), asked: len(members)}
}

// ServeHTTP serves the latest round; only the leader has one.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	round := c.latest.Load()
	if round == nil {
		http.Error(w, "this instance does not lead "+metricsRole, http.StatusServiceUnavailable)
		return
	}
	exposition(func() ([]*dto.MetricFamily, error) { return round.families, round.err }).ServeHTTP(w, r)
}
