package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
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
	if err != nil || len(families) != 1 || total(families, "work_total") != 42 || total(families, "other") != 0 {
		t.Fatalf("merged %v (%v)", families, err)
	}

	// What was merged can be served, and scraped, again.
	together := httptest.NewServer(exposition(func() ([]*dto.MetricFamily, error) { return families, nil }))
	t.Cleanup(together.Close)
	res, err := http.Get(together.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	for _, line := range []string{`work_total{instance_id="a"} 2`, `work_total{instance_id="b"} 40`} {
		if !strings.Contains(string(body), line) {
			t.Errorf("no %s in\n%s", line, body)
		}
	}
	if again, err := scrape(t.Context(), together.URL); err != nil || total(again, "work_total") != 42 {
		t.Errorf("scraped again: %v", err)
	}
}

func TestScrapeFaults(t *testing.T) {
	missing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(missing.Close)
	if _, err := scrape(t.Context(), missing.URL); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("not found: %v", err)
	}
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>\n") }))
	t.Cleanup(garbage.Close)
	if _, err := scrape(t.Context(), garbage.URL); err == nil {
		t.Error("a page is no metrics")
	}
	if _, err := merge([]scraped{mustScrape(t, member(t, "a", 1)), mustScrape(t, member(t, "a", 2))}); err == nil {
		t.Error("two members with the same series went unnoticed")
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
