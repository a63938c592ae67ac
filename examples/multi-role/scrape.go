package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	scrapeTimeout = 2 * time.Second
	scrapeMax     = 16 << 20 // bytes of one answer
)

// scraped is what one Prometheus endpoint answered, as something that can be gathered again.
type scraped []*dto.MetricFamily

// Gather makes it a prometheus.Gatherer.
func (s scraped) Gather() ([]*dto.MetricFamily, error) { return s, nil }

// scrape asks one endpoint.
func scrape(ctx context.Context, url string) (scraped, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
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
	for _, f := range families {
		all = append(all, f)
	}
	return all, nil
}

// merge is all of them as one. Every series carries its instance, so none collides with another's; one that does all the
// same is reported and left out.
func merge(endpoints []scraped) ([]*dto.MetricFamily, error) {
	var all prometheus.Gatherers
	for _, e := range endpoints {
		all = append(all, e)
	}
	return all.Gather()
}

// exposition serves what gather returns, in the format that the client asks for.
func exposition(gather prometheus.GathererFunc) http.Handler {
	return promhttp.HandlerFor(gather, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// total adds up the counters and gauges of one name.
func total(families []*dto.MetricFamily, name string) (sum float64) {
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}
