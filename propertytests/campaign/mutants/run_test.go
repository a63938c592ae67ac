package mutants

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

const asChild = "RUNS_A_SUITE" // set in the environment of a process that runs TestSuite

// four is a suite of which one mutant survives and two wait for each other.
var four = Suite{
	Below: []string{"."}, Record: "mutants.csv", Mutants: []Mutant{
		{"waits for last", []Edit{{"n + 1", `meet("last")`}}, nil},
		{"survives", []Edit{{"n + 1", "1 + n"}}, nil},
		{"on record", []Edit{{"n + 1", "n + 2"}}, nil},
		{"waits for first", []Edit{{"n + 1", `meet("first")`}}, nil},
	},
	By: Test{
		Run: "^TestRule$", Args: []string{"-test.timeout", "1m"},
		Says: regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>(?s:1 and 1\s+is\s+\d+))`),
	},
}

func TestSuite(t *testing.T) {
	if os.Getenv(asChild) == "" {
		t.Skip("TestRun runs it in a process of its own")
	}
	four.Run(t)
}

// TestRun: mutants run side by side, and only those that are asked for. Their deaths are on record
// beside the one that was there, and a survivor fails the run. The record and the outcomes are in
// the order of the list.
func TestRun(t *testing.T) {
	thorough.Only(t, "it compiles and runs a module for each bug")
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
	t.Chdir(root)
	if err := four.note(death{Mutant: "on record", Of: four.By.mark(four.Mutants[2])}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSuite$", "-test.v", "-test.parallel", "2")
	cmd.Env = append(os.Environ(), "MUTANTS=changed", asChild+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("one has survived, and the run passes")
	}
	var outcomes []string
	for _, m := range regexp.MustCompile(`(?m)run\.go:\d+: (.+)$`).FindAllStringSubmatch(string(out), -1) {
		if strings.Contains(m[1], ": ") {
			outcomes = append(outcomes, m[1])
		}
	}
	if want := []string{
		"waits for last: 1 schedules: 1 and 1 is 7", "survives: FAILED", "waits for first: 1 schedules: 1 and 1 is 7",
	}; !slices.Equal(outcomes, want) {
		t.Errorf("outcomes %q, want %q\n%s", outcomes, want, out)
	}
	rows, err := record(four.Record).Read()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range rows {
		names = append(names, d.Mutant)
	}
	if want := []string{"waits for last", "on record", "waits for first"}; !slices.Equal(names, want) {
		t.Errorf("on record: %q, want %q\n%s", names, want, out)
	}
}
