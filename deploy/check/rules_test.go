package check

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const rulesFile, rulesTest = "../prometheus/rules.yml", "../prometheus/rules_test.yml"

// rules is the part of Prometheus' format that the file may use.
type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr         string
			For                 string
			Labels, Annotations map[string]string
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func strict(t *testing.T, file string, into any) {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader(read(t, file)))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestRules: each rule is a query of metrics that there are, has a severity, a summary and a
// runbook, and a name of its own. Its test has it fire, and has it silent.
func TestRules(t *testing.T) {
	t.Parallel()
	var all rules
	strict(t, rulesFile, &all)
	var tests struct {
		RuleFiles          []string `yaml:"rule_files"`
		EvaluationInterval string   `yaml:"evaluation_interval"`
		Tests              []struct {
			Name, Interval string
			InputSeries    []struct{ Series, Values string } `yaml:"input_series"`
			AlertRuleTest  []struct {
				EvalTime  string `yaml:"eval_time"`
				Alertname string
				ExpAlerts []struct {
					ExpLabels      map[string]string `yaml:"exp_labels"`
					ExpAnnotations map[string]string `yaml:"exp_annotations"`
				} `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	strict(t, rulesTest, &tests)
	known := known(t)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, s := range test.InputSeries {
			query(t, test.Name, s.Series, known)
		}
		for _, a := range test.AlertRuleTest {
			if len(a.ExpAlerts) > 0 {
				fires[a.Alertname] = true
			}
			silent[a.Alertname] = silent[a.Alertname] || len(a.ExpAlerts) == 0 || len(a.ExpAlerts) < len(test.InputSeries)
		}
	}
	named := map[string]bool{}
	for _, g := range all.Groups {
		for _, r := range g.Rules {
			query(t, r.Alert, r.Expr, known)
			if named[r.Alert] || r.Labels["severity"] == "" || r.Annotations["summary"] == "" ||
				!strings.HasSuffix(r.Annotations["runbook_url"], "#"+strings.ToLower(r.Alert)) {
				t.Errorf("%s: %v %v", r.Alert, r.Labels, r.Annotations)
			}
			if !fires[r.Alert] || !silent[r.Alert] {
				t.Errorf("%s: no test has it fire (%t), or none has it silent (%t)", r.Alert, fires[r.Alert], silent[r.Alert])
			}
			named[r.Alert] = true
		}
	}
	if len(named) < 12 {
		t.Errorf("only %d alerts", len(named))
	}
}

var inTable = regexp.MustCompile("(?m)^\\| [^|]*\\? \\| `([^`]+)` \\|$")

// TestQueriesOfTheGuide: each query of the guide's table is one, of metrics that there are.
func TestQueriesOfTheGuide(t *testing.T) {
	t.Parallel()
	known := known(t)
	found := inTable.FindAllSubmatch(read(t, "../../docs/guides/monitoring.md"), -1)
	for _, q := range found {
		query(t, "the guide", string(q[1]), known)
	}
	if len(found) < 5 {
		t.Errorf("only %d queries are found", len(found))
	}
}
