package explore

import (
	"regexp"
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/mutants"
)

var suite = mutants.Suite{
	Below:   []string{"internal/protocol", "propertytests"},
	Record:  "mutants.csv",
	Mutants: slices.Concat(electionMutants, taskMutants, uniqueMutants),
}

// inElections and inTasks search the configuration of a name.
func inElections(name string) *mutants.Test { return in("^TestElections$", name) }
func inTasks(name string) *mutants.Test     { return in("^TestTasks$", name) }

func in(test, configuration string) *mutants.Test {
	return &mutants.Test{
		Run:   test,
		Args:  []string{"-explore.only", configuration, "-explore.states", "1000000", "-test.timeout", "20m"},
		Sound: []string{"-explore.only", configuration, "-explore.states", "100000"},
		Says:  regexp.MustCompile(`(?m)^\s*(?:\w+_test\.go:\d+: )?(?P<what>.*)\n\s*(?:after (?P<within>\d+ moves, among \d+ states)|goroutine \d+ \[)`),
	}
}

func TestMutants(t *testing.T)    { suite.Run(t) }
func TestMutantsFit(t *testing.T) { suite.Fit(t) }
