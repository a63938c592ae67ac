package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/rolemanager/rolemanager/internal/exporter"
	"github.com/rolemanager/rolemanager/metrics"
)

var described = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// known are the labels of each metric that a process or an exporter has.
func known(t *testing.T) map[string][]string {
	t.Helper()
	m, err := metrics.New(prometheus.NewRegistry(), metrics.WithKubernetesNames())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, c := range []prometheus.Collector{m, exporter.New(nil, 0)} {
		descs := make(chan *prometheus.Desc, 100)
		c.Describe(descs)
		close(descs)
		for d := range descs {
			found := described.FindStringSubmatch(d.String())
			if found == nil {
				t.Fatalf("not understood: %s", d)
			}
			of := append(strings.Split(found[2], ","), scraping...)
			all[found[1]] = of
			if strings.HasSuffix(found[1], "_seconds") { // it may be a histogram
				all[found[1]+"_bucket"] = append(slices.Clip(of), "le")
			}
		}
	}
	if len(all) < 40 {
		t.Fatalf("only %d metrics: %v", len(all), slices.Sorted(maps.Keys(all)))
	}
	return all
}

// scraping are the labels that Prometheus itself adds.
var scraping = []string{"instance", "job"}

// words are what Grafana puts in before it asks.
var words = strings.NewReplacer("$__rate_interval", "5m", "$__range", "3h")

// query asks Prometheus' parser about a query, and whether its metrics and labels are there.
func query(t *testing.T, where, text string, known map[string][]string) {
	t.Helper()
	for _, fault := range faults(text, known) {
		t.Errorf("%s: %s: %s", where, text, fault)
	}
}

// faults are what is wrong with a query.
func faults(text string, known map[string][]string) (all []string) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(words.Replace(text))
	if err != nil {
		return []string{err.Error()}
	}
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			names := named(n)
			if len(names) == 0 {
				add("%s names no metric", n)
			}
			for _, name := range names {
				if _, ok := known[name]; !ok {
					add("there is no metric %s", name)
				}
			}
			for _, m := range n.LabelMatchers {
				if m.Name != model.MetricNameLabel && !slices.Contains(below(n, known), m.Name) {
					add("%s has no label %s", n, m.Name)
				}
			}
		case *parser.AggregateExpr:
			for _, l := range n.Grouping {
				if !slices.Contains(below(n.Expr, known), l) {
					add("by %s, which %s does not have", l, n.Expr)
				}
			}
		case *parser.BinaryExpr:
			if n.VectorMatching == nil {
				return nil
			}
			for _, l := range n.VectorMatching.MatchingLabels {
				if !slices.Contains(below(n.LHS, known), l) || !slices.Contains(below(n.RHS, known), l) {
					add("on %s, which a side of %s does not have", l, n)
				}
			}
		}
		return nil
	})
	return all
}

// below are the labels of the metrics in a part of a query.
func below(part parser.Node, known map[string][]string) (has []string) {
	parser.Inspect(part, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			for _, name := range named(s) {
				has = append(has, known[name]...)
			}
		}
		return nil
	})
	return has
}

// named are the metrics that a selector names: one, or several with bars between them.
func named(s *parser.VectorSelector) (names []string) {
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel {
			names = append(names, strings.Split(m.Value, "|")...)
		}
	}
	return names
}

// TestFaults: what is wrong with a query is found.
func TestFaults(t *testing.T) {
	t.Parallel()
	known := known(t)
	for text, fault := range map[string]string{
		`election_is_leader`: "",
		`rate(election_heartbeat_duration_seconds_bucket{le="1"}[5m])`: "",
		`{__name__=~"election_epoch|roles_epoch"}`:                     "",
		`sum by (role) (`:                             "parse error",
		`election_leaders`:                            "no metric election_leaders",
		`{role="x"}`:                                  "names no metric",
		`election_is_leader{rolle="x"}`:               "no label rolle",
		`rate(election_transitions_total_bucket[5m])`: "no metric election_transitions_total_bucket",
		`sum by (leader) (election_is_leader)`:        "by leader",
		`roles_epoch > on (leader) roles_leader_info`: "on leader",
		`{__name__=~"election_epoch|roles_epochs"}`:   "no metric roles_epochs",
	} {
		found := faults(text, known)
		if (len(found) == 0) != (fault == "") || !strings.Contains(strings.Join(found, "; "), fault) {
			t.Errorf("%s: %q, want %q", text, found, fault)
		}
	}
}
