package guides

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/internal/exporter"
	"github.com/rolemanager/rolemanager/metrics"
)

var (
	described = regexp.MustCompile(`fqName: "([^"]+)"`)
	written   = regexp.MustCompile(`\b(?:leader_election|election|assign|roles)_[a-z_]+\b`)
)

// TestMetricNames: the pages name metrics that there are, and the reference names all of them.
func TestMetricNames(t *testing.T) {
	m, err := metrics.New(prometheus.NewRegistry(), metrics.WithKubernetesNames())
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan *prometheus.Desc, 1000)
	m.Describe(all)
	exporter.New(nil, 0).Describe(all)
	close(all)
	named := map[string]bool{}
	for d := range all {
		named[described.FindStringSubmatch(d.String())[1]] = false
	}
	const reference = "../../docs/reference/metrics.md"
	for _, page := range []string{
		reference, "../../docs/guides/monitoring.md", "../../deploy/prometheus/rules.yml",
		"../../deploy/grafana/rolemanager.json", "../../docs/operations.md",
	} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range written.FindAllString(string(text), -1) {
			name = strings.TrimSuffix(name, "_bucket")
			if _, ok := named[name]; !ok {
				t.Errorf("%s names %s, which is not a metric", page, name)
			}
			named[name] = named[name] || page == reference
		}
	}
	for name, ok := range named {
		if !ok {
			t.Errorf("%s does not name %s", reference, name)
		}
	}
}
