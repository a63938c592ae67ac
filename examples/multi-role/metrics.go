package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

const (
	metricsRole    = "metrics"
	metaURL        = "http" // key in the Meta of a member: where it serves HTTP
	scrapeInterval = 500 * time.Millisecond
	scrapeTimeout  = 2 * time.Second
	scrapeMax      = 16 << 20 // bytes of one answer
)

// federation is the work of the metrics role. Its leader scrapes the Prometheus endpoint of every
// member, and serves all of them as one.
type federation struct {
	session *election.Session
	latest  atomic.Pointer[round] // nil while another process leads
}

// round is what the members answered once.
type round struct {
	families        scraped
	leftOut         error // what could not be merged
	answered, asked int   // members
}

// lead is a Role.Lead.
func (f *federation) lead(ctx context.Context, _ *election.Term) error {
	defer f.latest.Store(nil)
	tick := time.NewTicker(scrapeInterval)
	defer tick.Stop()
	for {
		if r := f.collect(ctx); ctx.Err() == nil {
			f.latest.Store(r)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// collect scrapes all members at once: one that hangs delays the others by scrapeTimeout at most.
func (f *federation) collect(ctx context.Context) *round {
	members := slices.DeleteFunc(f.session.Members(), func(m election.MemberInfo) bool { return m.Meta[metaURL] == "" })
	answers := make([]scraped, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() { answers[i], _ = scrape(ctx, m.Meta[metaURL]+"/metrics") }) // without one it is left out
	}
	all.Wait()
	answers = slices.DeleteFunc(answers, func(a scraped) bool { return a == nil })
	families, err := merge(answers)
	return &round{families, err, len(answers), len(members)}
}

// ServeHTTP serves the latest round. Only the leader has one. Headers say how complete it is.
func (f *federation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	latest := f.latest.Load()
	if latest == nil {
		http.Error(w, "this instance does not lead "+metricsRole, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Members", fmt.Sprintf("%d of %d", latest.answered, latest.asked))
	if latest.leftOut != nil {
		w.Header().Set("Left-Out", strings.ReplaceAll(latest.leftOut.Error(), "\n", "; "))
	}
	promhttp.HandlerFor(latest.families, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

// scraped is what one endpoint answered. It is a prometheus.Gatherer, so it can be merged and
// served again.
type scraped []*dto.MetricFamily

// Gather returns the families.
func (s scraped) Gather() ([]*dto.MetricFamily, error) { return s, nil }

// scrape asks one endpoint.
func scrape(ctx context.Context, url string) (scraped, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", url, res.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(res.Body, scrapeMax))
	if err != nil {
		return nil, fmt.Errorf("read metrics of %s: %w", url, err)
	}
	var all scraped
	for _, family := range families {
		all = append(all, family)
	}
	return all, nil
}

// merge is all answers as one. Every series carries its instance, so no two collide. A series that
// collides nevertheless is left out, and the error says so.
func merge(answers []scraped) (scraped, error) {
	var all prometheus.Gatherers
	for _, answer := range answers {
		all = append(all, answer)
	}
	return all.Gather()
}

// newPages is what every member serves: /livez /readyz /leaderz /status for people and probes,
// /metrics for Prometheus.
func newPages(manager *roles.Manager, registry *prometheus.Registry) *http.ServeMux {
	pages := http.NewServeMux()
	pages.Handle("/", manager.Handler())
	pages.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return pages
}

// serve serves HTTP until stop is called. Requests that are under way then have a moment to end.
func serve(l net.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() { // joined by stop
		defer close(done)
		_ = server.Serve(l)
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-done
	}
}
