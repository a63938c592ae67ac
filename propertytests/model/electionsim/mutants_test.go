package electionsim

import (
	"regexp"
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/mutants"
)

var suite = mutants.Suite{
	Below:  []string{"internal/protocol", "fencing", "propertytests"},
	Record: "mutants.csv",
	By: mutants.Test{
		Run:  "^Test(LostReplies|UnreadyCandidate|BucketGoesBack|BucketInAnEarlierState|BucketMadeAgain|Election)$",
		Args: []string{"-rapid.shrinktime", "1ms", "-sim.schedules", "6000", "-test.timeout", "20m"},
		Says: says,
	},
	Mutants: slices.Concat(all, idle, lost, left, ended, spreading, zones, conditions),
}

var says = regexp.MustCompile(`(?:failed after (?P<within>\d+ tests?): |panic: )(?P<what>.*)`)

// losses is for the rules about a bucket that has lost acknowledged writes.
var losses = mutants.Test{
	Run: "^TestBucketLosesWrites$", Args: []string{"-sim.schedules", "12000", "-test.timeout", "20m"},
	Says: says,
}

// beside is the tests beside the rules. They notice what compare-and-swap makes harmless here, and
// what is too rare here.
var beside = mutants.Test{
	Below: []string{"internal/protocol"}, Run: ".", Args: []string{"-test.timeout", "10m"},
	Says: regexp.MustCompile(`--- FAIL: (?P<within>\S+)[^\n]*\n(?s:.*?)(_test.go:\d+: |panic: )(?P<what>[^\n]*)`),
}

// namesakeBucket is for what is written to another bucket of the same name.
var namesakeBucket = mutants.Test{Run: "^Test(TwoBucketsAreNeverOne|StrayClaim)$", Args: beside.Args, Says: says}

// manyDead is the test of the one rule that only a crowd needs.
var manyDead = mutants.Test{Run: "^TestManyDieWithTheLeader$", Args: beside.Args, Says: says}

// adoptedBucket is for what an adoption leaves out of the view.
var adoptedBucket = mutants.Test{
	Run: "^TestAdoptedBucket$", Args: []string{"-sim.schedules", "6000", "-test.timeout", "20m"},
	Says: says,
}

// restoredBucket is for a bucket that gets lost.
var restoredBucket = mutants.Test{
	Run: "^TestLostBucketIsRestored$", Args: []string{"-sim.schedules", "6000", "-test.timeout", "20m"}, Says: says,
}

// steppingClock is for what the server may not forget.
var steppingClock = mutants.Test{
	Run: "^TestServerClockSteps$", Args: []string{"-sim.schedules", "6000", "-test.timeout", "20m"}, Says: says,
}

// crowds is for claims that go together.
var crowds = mutants.Test{
	Run: "^TestClaimsTogether$", Args: []string{"-sim.schedules", "12000", "-test.timeout", "20m"}, Says: says,
}

// slowStore is the test of the one rule that only a slow store needs.
var slowStore = mutants.Test{Below: beside.Below, Run: "^TestASlowStore$", Args: beside.Args, Says: beside.Says}

// fullWindow is the test of how wide a window gets.
var fullWindow = mutants.Test{Below: beside.Below, Run: "^TestAFullWindow$", Args: beside.Args, Says: beside.Says}

func TestMutants(t *testing.T)    { suite.Run(t) }
func TestMutantsFit(t *testing.T) { suite.Fit(t) }
