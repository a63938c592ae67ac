package check

import (
	"encoding/json"
	"regexp"
	"testing"
)

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// TestDashboard: every query of the dashboard is one, of metrics and labels that there are.
func TestDashboard(t *testing.T) {
	t.Parallel()
	var d struct {
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(read(t, "../grafana/rolemanager.json"), &d); err != nil {
		t.Fatal(err)
	}
	known := known(t)
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := labelValues.FindStringSubmatch(v.Query)
		if parts == nil {
			t.Errorf("variable %s: %s", v.Name, v.Query)
			continue
		}
		query(t, "variable "+v.Name, "count by ("+parts[2]+") ("+parts[1]+")", known)
	}
	asked := 0
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			query(t, p.Title, q.Expr, known)
			asked++
		}
	}
	if asked < 30 {
		t.Errorf("only %d queries", asked)
	}
}
