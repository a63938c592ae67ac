package check

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
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
			all[found[1]] = append(strings.Split(found[2], ","), scraping...)
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
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(words.Replace(text))
	if err != nil {
		t.Errorf("%s: %s: %v", where, text, err)
		return
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			has := ofSelector(t, where, n, known)
			for _, m := range n.LabelMatchers {
				if m.Name != labels.MetricName && !slices.Contains(has, m.Name) {
					t.Errorf("%s: %s has no label %s", where, n, m.Name)
				}
			}
		case *parser.AggregateExpr:
			has := below(t, where, n.Expr, known)
			for _, l := range n.Grouping {
				if !slices.Contains(has, l) {
					t.Errorf("%s: by %s, which %s does not have", where, l, n.Expr)
				}
			}
		case *parser.BinaryExpr:
			if n.VectorMatching == nil {
				return nil
			}
			left, right := below(t, where, n.LHS, known), below(t, where, n.RHS, known)
			for _, l := range n.VectorMatching.MatchingLabels {
				if !slices.Contains(left, l) || !slices.Contains(right, l) {
					t.Errorf("%s: on %s, which a side of %s does not have", where, l, n)
				}
			}
		}
		return nil
	})
}

// below are the labels of the metrics in a part of a query.
func below(t *testing.T, where string, part parser.Node, known map[string][]string) (has []string) {
	t.Helper()
	parser.Inspect(part, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			has = append(has, ofSelector(t, where, s, known)...)
		}
		return nil
	})
	return has
}

// ofSelector are the labels of the metrics that a selector names.
func ofSelector(t *testing.T, where string, s *parser.VectorSelector, known map[string][]string) (has []string) {
	t.Helper()
	for _, m := range s.LabelMatchers {
		if m.Name != labels.MetricName {
			continue
		}
		for name := range strings.SplitSeq(m.Value, "|") {
			of, ok := known[name]
			if !ok {
				if bucket, is := strings.CutSuffix(name, "_bucket"); is {
					if of, ok = known[bucket]; ok {
						of = append(slices.Clone(of), "le")
					}
				}
			}
			if !ok {
				t.Errorf("%s: there is no metric %s", where, name)
			}
			has = append(has, of...)
		}
	}
	if has == nil {
		t.Errorf("%s: %s names no metric", where, s)
	}
	return has
}
