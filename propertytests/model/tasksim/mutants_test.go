package tasksim

import (
	"regexp"
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/mutants"
)

var suite = mutants.Suite{
	Below:  []string{"internal/protocol", "propertytests"},
	Record: "mutants.csv",
	By: mutants.Test{
		Run:   "TestRoughWorlds$",
		Args:  []string{"-tasksim.seed", "1", "-tasksim.schedules", "60000", "-test.timeout", "1h"},
		Sound: []string{"-tasksim.seed", "1", "-tasksim.schedules", "1500"},
		Says:  regexp.MustCompile(`(?:failed after (?P<within>\d+ schedules): |panic: )(?P<what>.*)`),
	},
	Mutants: slices.Concat(drawn, bundled, chained, grouped, astray, turning, overlapped, by(poison, poisonous),
		by(outcast, lonely), by(estranged, estrangedOnes), by(ahead, rewritten), by(beside, unknowable),
		by(leavers, claimedBlocks), by(relies, remembered),
		by(hosts, onHosts), by(beheaded, onHostsBeheaded), by(beside, onHostsRarely),
		by(stubborn, crowding), by(beside, isolating),
		by(beside, rare), by(beside, settled), by(beside, silent), by(beside, passedOver), by(listings, listed),
		by(gathers, together), by(reads, inPortions),
		by(proves, proofs)),
}

var (
	poison = mutants.Test{
		Run: "TestPoison$|TestNobodyPaysForPeace$", Args: []string{"-test.timeout", "10m"},
		Says: regexp.MustCompile(`_test.go:\d+: (?P<what>.*)`),
	}
	gathers = mutants.Test{
		Below: []string{"internal/protocol/tasks/gather"}, Run: ".",
		Args: []string{"-rapid.nofailfile", "-test.timeout", "10m"},
		Says: regexp.MustCompile(`_test.go:\d+: (?P<what>.*)`),
	}
	proves = mutants.Test{
		Below: []string{"internal/protocol/tasks/frame"}, Run: "^Test",
		Args:  []string{"-rapid.nofailfile", "-rapid.checks", "20000", "-test.timeout", "10m"},
		Sound: []string{"-rapid.nofailfile"},
		Says:  regexp.MustCompile(`_test.go:\d+: (?P<what>.*)`),
	}
	relies = mutants.Test{
		Below: []string{"internal/protocol/tasks/bundles"}, Run: "^TestAClaim", Args: []string{"-test.timeout", "10m"},
		Says: beside.Says,
	}
	reads = mutants.Test{
		Below: []string{"internal/protocol/tasks/ahead"}, Run: ".",
		Args: []string{"-rapid.nofailfile", "-test.timeout", "10m"},
		Says: regexp.MustCompile(`_test.go:\d+: (?P<what>.*)`),
	}
	outcast = mutants.Test{
		Run: "TestOutcast$", Args: []string{"-test.timeout", "10m"}, Says: regexp.MustCompile(`_test.go:\d+: (?P<what>.*)`),
	}
	estranged = mutants.Test{
		Run: "TestEstranged$", Args: []string{"-tasksim.schedules", "2000", "-test.timeout", "20m"},
		Sound: []string{"-tasksim.schedules", "300"},
		Says:  regexp.MustCompile(`_test.go:\d+: (?P<what>.*)`),
	}
	ahead = mutants.Test{
		Run: "TestWrittenAgainAhead$", Args: []string{"-tasksim.schedules", "5000", "-test.timeout", "20m"},
		Sound: []string{"-tasksim.schedules", "500"},
		Says:  regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>.*)`),
	}
	leavers = mutants.Test{
		Run: "TestSubmittedAgain$", Args: []string{"-tasksim.schedules", "5000", "-test.timeout", "20m"},
		Sound: []string{"-tasksim.schedules", "300"},
		Says:  regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>.*)`),
	}
	namesAgain = mutants.Test{
		Run: "TestNamesOfGroupsAreUsedAgain$", Args: []string{"-tasksim.schedules", "5000", "-test.timeout", "20m"},
		Sound: []string{"-tasksim.schedules", "300"},
		Says:  regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>.*)`),
	}
	hosts = mutants.Test{
		Run: "TestLostHosts$", Args: []string{"-tasksim.schedules", "5000", "-test.timeout", "20m"},
		Sound: []string{"-tasksim.schedules", "300"},
		Says:  regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>.*)`),
	}
	beheaded = mutants.Test{
		Run: "TestLostHostsAndSchedulers$", Args: []string{"-tasksim.schedules", "12000", "-test.timeout", "20m"},
		Sound: []string{"-tasksim.schedules", "300"},
		Says:  regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>.*)`),
	}
	stubborn = mutants.Test{
		Run: "TestStubbornHandlers$", Args: []string{"-tasksim.schedules", "12000", "-test.timeout", "20m"},
		Sound: []string{"-tasksim.schedules", "300"},
		Says:  regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>.*)`),
	}
	beside = mutants.Test{
		Below: []string{"internal/protocol/tasks"}, Run: ".", Args: []string{"-test.timeout", "10m"},
		Says: regexp.MustCompile(`--- FAIL: (?P<within>\S+)[^\n]*\n(?s:.*?)_test.go:\d+: (?P<what>[^\n]*)`),
	}
	listings = mutants.Test{
		Below: []string{"internal/protocol/tasks"}, Run: "TestAListing", Args: []string{"-rapid.nofailfile"},
		Says: beside.Says,
	}
)

// by says which test has to notice those of a list.
func by(test mutants.Test, list []mutants.Mutant) []mutants.Mutant {
	for i := range list {
		list[i].By = &test
	}
	return list
}

func TestMutants(t *testing.T)    { suite.Run(t) }
func TestMutantsFit(t *testing.T) { suite.Fit(t) }
