package tasksim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestLostHosts: workers that are lost with their host count as one loss: no task ends for that,
// but one that takes its workers down does.
func TestLostHosts(t *testing.T) {
	var sum Counts
	for i := range *schedules {
		s := hostsWorld(*rough + uint64(i))
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		if err != nil {
			t.Fatalf("-tasksim.seed %d, failed after %d schedules: %v\n%+v", s.Seed, i+1, err, s)
		}
	}
	t.Logf("%d schedules: %+v", *schedules, sum)
	if sum.HostsLost < *schedules || sum.Counted < *schedules || sum.Buried < *schedules/10 {
		t.Error("the run proves nothing")
	}
}

// hostsWorld is one in which nothing but hosts fails, and tasks that take down every process that
// runs them.
func hostsWorld(seed uint64) Scenario {
	r := rand.New(rand.NewPCG(seed, 6))
	return Scenario{
		Seed: seed, Processes: 5 + 2*r.IntN(2), Candidates: 1, Slots: 1 + r.IntN(4), Tasks: 30 + r.IntN(40),
		Lease: time.Second, Delay: 5 * time.Millisecond, Lag: 30 * time.Millisecond, ReadLag: 3 * time.Millisecond,
		Faults: none, Length: 20 * time.Second, Calm: 10 * time.Minute, Budget: 2, Hosts: true,
		Poisons: r.IntN(2), Chained: r.IntN(2) == 0,
	}
}
