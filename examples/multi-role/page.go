package main

import (
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
)

// servePage serves on the address of -http, if there is one: what the manager of the first living instance serves, and the
// metrics of all members together.
func (c *cluster) servePage() (stop func(), err error) {
	if c.options.http == "" {
		return func() {}, nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "multi-role serves /status /livez /readyz /leaderz?role=ROLE /metrics")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if living := c.living(); len(living) > 0 {
			living[0].manager.Handler().ServeHTTP(w, r)
			return
		}
		http.Error(w, "no instance is alive", http.StatusServiceUnavailable)
	})
	mux.HandleFunc("GET /metrics", c.serveTogether)
	e, err := listen(c.options.http, mux)
	if err != nil {
		return nil, fmt.Errorf("serve -http: %w", err)
	}
	c.screen.say(plain, "serving %s/status and %s/metrics", e.url(), e.url())
	return e.close, nil
}

// serveTogether asks whoever leads the metrics role, in this process or another.
func (c *cluster) serveTogether(w http.ResponseWriter, r *http.Request) {
	var leader string
	if living := c.living(); len(living) > 0 {
		info, _ := living[0].manager.Session().Role(metricsRole)
		leader = info.Leader
	}
	for _, m := range c.members() {
		if m.Instance != leader || m.Meta[metaURL] == "" {
			continue
		}
		answer, err := scrape(r.Context(), m.Meta[metaURL]+"/together")
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		exposition(func() ([]*dto.MetricFamily, error) { return answer, nil }).ServeHTTP(w, r)
		return
	}
	http.Error(w, "nobody leads "+metricsRole, http.StatusServiceUnavailable)
}
