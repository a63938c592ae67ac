package sim

import (
	"regexp"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/mutants"
)

var suite = mutants.Suite{
	Record: "mutants.csv",
	By: mutants.Test{
		Package: "propertytests/sim",
		Run:     "^Test(LostReplies|UnreadyCandidate|BucketGoesBack|BucketInAnEarlierState|BucketMadeAgain|Election)$",
		Args:    []string{"-rapid.shrinktime", "1ms", "-sim.schedules", "6000", "-test.timeout", "20m"},
		Says:    says,
	},
	Mutants: all,
}

var says = regexp.MustCompile(`(?:failed after (?P<within>\d+ tests?): |panic: )(?P<what>.*)`)

// losses is for the rules about a bucket that has lost what it had acknowledged.
var losses = mutants.Test{
	Package: "propertytests/sim", Run: "^TestBucketLosesWrites$", Args: []string{"-sim.schedules", "12000", "-test.timeout", "20m"},
	Says: says,
}

// beside is for what compare-and-swap makes harmless, or what takes too rare a chance here: the tests beside the rules.
var beside = mutants.Test{
	Package: "internal/protocol", Run: ".", Args: []string{"-test.timeout", "10m"},
	Says: regexp.MustCompile(`--- FAIL: (?P<within>\S+)[^\n]*\n(?s:.*?)(_test.go:\d+: |panic: )(?P<what>[^\n]*)`),
}

func TestMutants(t *testing.T)    { suite.Run(t) }
func TestMutantsFit(t *testing.T) { suite.Fit(t) }
