package tasksim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestWrittenAgainAhead: outcomes are written again before a scheduler that reads the stream comes
// to them, as often as it takes to keep them ahead of it. No task has a second outcome, and nothing
// that is submitted again is lost.
func TestWrittenAgainAhead(t *testing.T) {
	t.Parallel()
	from := *rough
	var sum Counts
	for i := range *schedules {
		s := rewritingWorld(from + uint64(i))
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		if err != nil {
			t.Fatalf("-tasksim.seed %d, failed after %d schedules: %v\n%+v", s.Seed, i+1, err, s)
		}
	}
	t.Logf("%d schedules: %+v", *schedules, sum)
	if sum.Ahead < *schedules || sum.Resealed < *schedules || sum.Requeued < *schedules/10 {
		t.Error("the run proves nothing")
	}
}

// rewritingWorld is one with take-overs in the midst of much that ends, and readings that are slow.
func rewritingWorld(seed uint64) Scenario {
	r := rand.New(rand.NewPCG(seed, 5))
	ms := func(all ...int) time.Duration { return time.Duration(all[r.IntN(len(all))]) * time.Millisecond }
	return Scenario{
		Seed: seed, Processes: 3, Candidates: 3, Slots: 2 + r.IntN(6), Tasks: 40 + r.IntN(80), Lease: time.Second,
		Delay: ms(1, 5), Late: float64(r.IntN(3)) / 100, Loss: float64(r.IntN(3)) / 50, Lag: ms(3, 30),
		ReadLag: ms(30, 100, 300), Faults: ms(1000, 3000), Deposed: []float64{0.2, 0.5}[r.IntN(2)],
		Length: ms(3000, 6000), Calm: 5 * time.Minute, Retention: ms(0, 0, 3000), Chained: r.IntN(2) == 0,
		Batches: r.IntN(2) == 0, Rewrites: ms(2, 5, 10, 30),
		Bundles: r.IntN(3) * 10,
	}
}

// TestNamesOfGroupsAreUsedAgain: a group has a name of an earlier one of which members are kept
// still, and these are written again. None of them counts, and the group is given up if one of its
// own members cannot be submitted for that.
func TestNamesOfGroupsAreUsedAgain(t *testing.T) {
	t.Parallel()
	var sum Counts
	for i := range *schedules {
		s := namesAgainWorld(*rough + uint64(i))
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		if err != nil {
			t.Fatalf("-tasksim.seed %d, failed after %d schedules: %v\n%+v", s.Seed, i+1, err, s)
		}
	}
	t.Logf("%d schedules: %+v", *schedules, sum)
	if sum.Renamed < *schedules/2 || sum.KeptMembers < *schedules/10 || sum.Groups < *schedules {
		t.Error("the run proves nothing")
	}
}

func namesAgainWorld(seed uint64) Scenario {
	s := rewritingWorld(seed)
	s.Tasks, s.Length, s.Deposed, s.Faults = 10, 60*time.Second, 0.05, 5*time.Second
	s.ReadLag = min(s.ReadLag, 30*time.Millisecond)
	s.Retention, s.Chained, s.Renames = 3*time.Second, true, true
	return s
}

// TestSubmittedAgain: callers leave bundles that are under way, and submit their tasks again by
// their ids. Each task is stored once while it is known, and no member of a bundle is lost.
func TestSubmittedAgain(t *testing.T) {
	t.Parallel()
	var sum Counts
	for i := range *schedules {
		s := leaversWorld(*rough + uint64(i))
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		if err != nil {
			t.Fatalf("-tasksim.seed %d, failed after %d schedules: %v\n%+v", s.Seed, i+1, err, s)
		}
	}
	t.Logf("%d schedules: %+v", *schedules, sum)
	if sum.Claims < *schedules || sum.ShutOut < *schedules/2 || sum.Bundled < *schedules {
		t.Error("the run proves nothing")
	}
}

// leaversWorld is one in which requests of clients are lost and late, and outcomes are kept for
// long: once one has left, its task may be stored again.
func leaversWorld(seed uint64) Scenario {
	s := rewritingWorld(seed)
	s.Tasks, s.Bundles, s.Leavers = 5, 20, true
	s.Loss, s.Late, s.Retention, s.Rewrites = 0.3, 0.2, 0, 0
	s.Lease, s.Length, s.Faults, s.ReadLag = 200*time.Millisecond, 12*time.Second, 3*time.Second, 30*time.Millisecond
	return s
}
