package stage

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestReadInstance reads the pages of an instance as far as the table needs them.
func TestReadInstance(t *testing.T) {
	pages := http.NewServeMux()
	pages.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"roles": [{"name": "scheduler", "leader": "a", "epoch": 7, "state": "LEADER"}],
			"members": [{"instance": "a", "meta": {"http": "http://127.0.0.1:1"}}, {"instance": "b"}]}`)
	})
	pages.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Left-Out", "a series")
		_, _ = io.WriteString(w, "# TYPE rtt gauge\nrtt{member=\"a\"} 0.5\nrtt{member=\"b\"} 1\n"+
			"# TYPE work histogram\nwork_bucket{le=\"+Inf\"} 3\nwork_sum 4\nwork_count 3\n")
	})
	server := httptest.NewServer(pages)
	t.Cleanup(server.Close)

	seen := readStatus(server.URL)
	if seen.leader("scheduler") != "a" || seen.leader("other") != "" || seen.Roles[0].Epoch != 7 {
		t.Errorf("roles: %+v", seen.Roles)
	}
	if !seen.has("b") || seen.has("c") || seen.url("a") != "http://127.0.0.1:1" || seen.url("b") != "" {
		t.Errorf("members: %+v", seen.Members)
	}
	got, err := readMetrics(server.URL + "/metrics")
	if err != nil || got.header.Get("Left-Out") != "a series" {
		t.Errorf("metrics: %+v (%v)", got, err)
	}
	if got.total("rtt") != 1.5 || got.total("work") != 3 || got.total("none") != 0 {
		t.Errorf("totals %v, %v and %v", got.total("rtt"), got.total("work"), got.total("none"))
	}
	if by := got.by("rtt", "member"); len(by) != 2 || by["a"] != 0.5 || by["b"] != 1 {
		t.Errorf("by member: %v", by)
	}

	if gone := readStatus(server.URL + "/gone"); len(gone.Roles) != 0 {
		t.Errorf("a page that is not there: %+v", gone)
	}
	if _, err := readMetrics(server.URL + "/status"); err == nil {
		t.Error("a page of another format passes for metrics")
	}
}
