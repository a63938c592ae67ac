package tasksim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestLostHosts: workers that are lost with their host count as one loss: no task ends for that,
// but one that takes its workers down does.
func TestLostHosts(t *testing.T) {
	t.Parallel()
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

// TestLostHostsAndSchedulers: a task that one loss ends runs alone at the scheduler's own worker,
// and is excused then, since another worker was lost with its host: nothing comes beside it before
// a later scheduler would take it for innocent too.
func TestLostHostsAndSchedulers(t *testing.T) {
	t.Parallel()
	var sum Counts
	for i := range *schedules {
		s := beheadedWorld(*rough + uint64(i))
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		if err != nil {
			t.Fatalf("-tasksim.seed %d, failed after %d schedules: %v\n%+v", s.Seed, i+1, err, s)
		}
	}
	t.Logf("%d schedules: %+v", *schedules, sum)
	if sum.HostsLost < *schedules || sum.HeadsLost < *schedules || sum.Alone < *schedules/10 ||
		sum.Buried < *schedules/10 {
		t.Error("the run proves nothing")
	}
}

// beheadedWorld is one in which the process that leads fails beside the hosts. Often it is the only
// one that is left when a host is lost, so what was lost first runs there.
func beheadedWorld(seed uint64) Scenario {
	r := rand.New(rand.NewPCG(seed, 8))
	return Scenario{
		Seed: seed, Processes: 3, Candidates: 1, Slots: 2 + r.IntN(2), Tasks: 60 + r.IntN(120),
		Lease: time.Second, Delay: 5 * time.Millisecond, Lag: 30 * time.Millisecond, ReadLag: 3 * time.Millisecond,
		Faults: none, Beheaded: true, Length: 20 * time.Second, Calm: 10 * time.Minute, Budget: 1, Hosts: true,
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
