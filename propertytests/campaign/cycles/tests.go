package cycles

import (
	"fmt"
	"regexp"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// subject is what a test is about: packages of this module, which are the product with all that
// they import here.
type subject string

const (
	elections subject = "election fencing"
	tasks     subject = "election fencing assign"
)

// test is one that says how many cycles it has played.
type test struct {
	name  string
	about subject
}

// tests are all of them, those that take the least time for a cycle first.
var tests = []test{
	{"TestRealtimeTornTail", elections},
	{"TestProcessKill", elections},
	{"TestRealtimeFencedLedgers", elections},
	{"TestRealtimeServerClockLeaps", elections},
	{"TestRealtimeLostTail", elections},
	{"TestServerRestartRolling", elections},
	{"TestRealtimeLeafCut", elections},
	{"TestClusterServerKilled", elections},
	{"TestRealtimeServerClockBack", tasks},
	{"TestRealtimeTaskProcesses", tasks},
	{"TestRealtimeClusterClaimLost", elections},
	{"TestRealtimeServerClockSteps", elections},
	{"TestRealtimeSuperclusterCut", elections},
	{"TestRealtimeSuperclusterMove", elections},
	{"TestClusterPartition", elections},
	{"TestRealtimeClusterClockLeaps", elections},
	{"TestRealtimeServerClockTasks", tasks},
	{"TestRealtimeClusterProcessesKilled", elections},
	{"TestRealtimeTasksClusterLostAtWrites", tasks},
	{"TestRealtimeClusterClockTasks", tasks},
	{"TestRealtimeClusterCommittedLost", elections},
	{"TestRealtimeClusterRestored", elections},
	{"TestRealtimeClusterCutOff", elections},
	{"TestRealtimeClusterStorm", elections},
	{"TestRealtimeClusterReplicaTail", elections},
	{"TestRealtimeClusterClockSteps", elections},
	{"TestTasksProcessesOnCluster", tasks},
	{"TestRealtimeZones", elections},
	{"TestRealtimeZonesStretched", elections},
}

// matching are the tests whose name matches.
func matching(of string) (some []test, err error) {
	wanted, err := regexp.Compile(of)
	if err != nil {
		return nil, fmt.Errorf("-of: %w", err)
	}
	for _, t := range tests {
		if wanted.MatchString(t.name) {
			some = append(some, t)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("cycles: no test matches %q; there are %v", of, tests)
	}
	return some, nil
}

// drawn are every other of some tests, so that what they take is about half: one half with some
// seeds, and the other half with the others. Without a seed they are all of them.
func drawn(all []test, seed string) (some []test) {
	if seed == "" {
		return all
	}
	for i := draw.Turn(seed, 2); i < len(all); i += 2 {
		some = append(some, all[i])
	}
	return some
}

func (t test) String() string { return t.name }
