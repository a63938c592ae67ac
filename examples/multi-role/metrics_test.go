package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// member serves a counter of its own over HTTP.
func member(t *testing.T, id string, value float64) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "work_total", Help: "Work done.", ConstLabels: prometheus.Labels{"instance_id": id},
	})
	registry.MustRegister(counter)
	counter.Add(value)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestScrapeAndMerge(t *testing.T) {
	var answers []scraped
	for id, value := range map[string]float64{"a": 2, "b": 40} {
		answer, err := scrape(t.Context(), member(t, id, value))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	families, err := merge(answers)
	if err != nil || len(families) != 1 {
		t.Fatalf("merged %v (%v)", families, err)
	}

	// The merged metrics can be served, and scraped, again.
	f := new(federation)
	f.latest.Store(&round{families: families})
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	for range 2 {
		res, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		for _, line := range []string{`work_total{instance_id="a"} 2`, `work_total{instance_id="b"} 40`} {
			if !strings.Contains(string(body), line) {
				t.Errorf("no %s in\n%s", line, body)
			}
		}
		f.latest.Store(&round{families: mustScrape(t, server.URL)})
	}
}

// TestFederationServes: only the leader has metrics to serve, and it says what it had to leave out.
func TestFederationServes(t *testing.T) {
	f := new(federation)
	answer := httptest.NewRecorder()
	f.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/federate", nil))
	if answer.Code != http.StatusServiceUnavailable {
		t.Errorf("without leading it answers %d", answer.Code)
	}
	families, err := merge([]scraped{mustScrape(t, member(t, "a", 1)), mustScrape(t, member(t, "a", 2))})
	if err == nil {
		t.Fatal("two members with the same series went unnoticed")
	}
	f.latest.Store(&round{families, err, 2, 3})
	answer = httptest.NewRecorder()
	f.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/federate", nil))
	if complete := answer.Header().Get("Members"); complete != "2 of 3" {
		t.Errorf("it says that %q have answered", complete)
	}
	if left := answer.Header().Get("Left-Out"); answer.Code != http.StatusOK || !strings.Contains(left, "work_total") {
		t.Errorf("it answers %d, and leaves out %q", answer.Code, left)
	}
	if !strings.Contains(answer.Body.String(), `work_total{instance_id="a"} `) {
		t.Errorf("it serves\n%s", answer.Body)
	}
}

func TestScrapeFaults(t *testing.T) {
	missing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(missing.Close)
	if _, err := scrape(t.Context(), missing.URL); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("not found: %v", err)
	}
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>\n")
	}))
	t.Cleanup(garbage.Close)
	if _, err := scrape(t.Context(), garbage.URL); err == nil {
		t.Error("a page passes for metrics")
	}
}

func mustScrape(t *testing.T, url string) scraped {
	t.Helper()
	answer, err := scrape(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
