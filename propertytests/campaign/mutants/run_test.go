package mutants

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const asChild = "RUNS_A_SUITE" // set in the environment of a process that runs TestSuite

// TestSuite runs a suite, of which one mutant survives and two wait for each other.
func TestSuite(t *testing.T) {
	if os.Getenv(asChild) == "" {
		t.Skip("TestRun runs it in a process of its own")
	}
	Suite{
		Below: []string{"."}, Record: "mutants.csv", Mutants: []Mutant{
			{"waits for last", []Edit{{"n + 1", `meet("last")`}}, nil},
			{"survives", []Edit{{"n + 1", "1 + n"}}, nil},
			{"one of them", []Edit{{"n + 1", "n + 2"}}, nil},
			{"waits for first", []Edit{{"n + 1", `meet("first")`}}, nil},
		},
		By: Test{
			Run: "^TestRule$", Args: []string{"-test.timeout", "1m"},
			Says: regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>(?s:1 and 1\s+is\s+\d+))`),
		},
	}.Run(t)
}

// TestRun: mutants run side by side, and only those that are asked for. Their deaths are on record,
// and a survivor fails the run. The record and the outcomes are in the order of the list.
func TestRun(t *testing.T) {
	root := module(t, map[string]string{
		"rule.go": ruleText, "rule_test.go": ruleTest,
		"meet.go": `package example

import (
	"os"
	"time"
)

var other = map[string]string{"first": "last", "last": "first"}

// meet waits until another process says that it is here.
func meet(me string) int {
	for os.WriteFile(other[me], nil, 0o600) == nil {
		if _, err := os.Stat(me); err == nil {
			return 7
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0
}
`,
	})
	for _, c := range []struct {
		which, run       string
		record, outcomes []string
	}{
		{"1", "^TestSuite$/^one", []string{"one of them"}, []string{"one of them: 1 schedules: 1 and 1 is 3"}},
		{"changed", "^TestSuite$", []string{"waits for last", "one of them", "waits for first"}, []string{
			"waits for last: 1 schedules: 1 and 1 is 7", "survives: FAILED", "waits for first: 1 schedules: 1 and 1 is 7",
		}},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", c.run, "-test.v", "-test.parallel", "2")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "MUTANTS="+c.which, asChild+"=1")
		out, err := cmd.CombinedOutput()
		if survived := slices.Contains(c.outcomes, "survives: FAILED"); (err != nil) != survived {
			t.Errorf("MUTANTS=%s: %v\n%s", c.which, err, out)
		}
		var outcomes []string
		for _, m := range regexp.MustCompile(`(?m)run\.go:\d+: (.+)$`).FindAllStringSubmatch(string(out), -1) {
			if strings.Contains(m[1], ": ") {
				outcomes = append(outcomes, m[1])
			}
		}
		if !slices.Equal(outcomes, c.outcomes) {
			t.Errorf("MUTANTS=%s: outcomes %q, want %q\n%s", c.which, outcomes, c.outcomes, out)
		}
		rows, err := record(filepath.Join(root, "mutants.csv")).Read()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range rows {
			names = append(names, d.Mutant)
		}
		if !slices.Equal(names, c.record) {
			t.Errorf("MUTANTS=%s: on record %q, want %q\n%s", c.which, names, c.record, out)
		}
	}
}
