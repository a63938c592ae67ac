package tasksim

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// none is for worlds in which no fault comes by itself: the first one may come at any time within
// twice as long.
const none = 100_000 * time.Hour

var everyEffect = flag.Bool("tasksim.every", false, "crash after every effect with batches and without")

// TestCrashAtEveryEffect lets the process of the scheduler crash after each of its effects in turn,
// in a world without other faults, with groups and tasks that wait for others: whatever was
// written, sent or answered before it, the next scheduler continues from there. It is a twelfth of
// the effects of a scheduler whose writes go one by one, and another twelfth of one whose writes
// gather for batches; with CI set a sixth of each, and with -tasksim.every, as CI plays it, too,
// all of both.
func TestCrashAtEveryEffect(t *testing.T) {
	t.Parallel()
	step := thorough.Pick(12, 6)
	if testing.Short() {
		step = 10
	}
	if *everyEffect {
		step = 1
	}
	for first, batches := range []bool{true, false} {
		quiet := Scenario{
			Seed: 5, Processes: 3, Candidates: 3, Slots: 2, Tasks: 10, Lease: time.Second, Delay: 5 * time.Millisecond,
			Lag: 30 * time.Millisecond, ReadLag: 3 * time.Millisecond, Faults: none, Length: 3 * time.Second,
			Calm: 5 * time.Minute, Recurring: true, Chained: true, Batches: batches,
			Bundles: 3,
		}
		c, err := Run(quiet)
		if err != nil {
			t.Fatal(err)
		}
		n, together := 0, 0
		for at := 1 + first%step; at <= c.Effects; at += step {
			s := quiet
			s.CrashAt = at
			got, err := Run(s)
			if err != nil {
				t.Fatalf("crash after effect %d of %d, batches %t: %v", at, c.Effects, batches, err)
			}
			if got.Crashes == 0 || got.Groups == 0 || got.Chains == 0 || got.Whole == 0 {
				t.Fatalf("effect %d, batches %t: %+v: that proves little", at, batches, got)
			}
			n, together = n+1, together+got.Together
		}
		t.Logf("%d crashes, of %d effects; %d batches: %t", n, c.Effects, together, batches)
	}
}

// TestStubbornHandlers: handlers that were told to stop run on, beside tasks that kill every
// process that runs them. No task is dead for a process that one of those ran in.
func TestStubbornHandlers(t *testing.T) {
	t.Parallel()
	var sum Counts
	for i := range *schedules {
		s := stubbornWorld(*rough + uint64(i))
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		if err != nil {
			t.Fatalf("-tasksim.seed %d, failed after %d schedules: %v\n%+v", s.Seed, i+1, err, s)
		}
	}
	t.Logf("%d schedules: %+v", *schedules, sum)
	if sum.Outstayed < *schedules/4 || sum.Buried < *schedules/2 || sum.Terms < 2**schedules {
		t.Error("the run proves nothing")
	}
}

func stubbornWorld(seed uint64) Scenario {
	r := rand.New(rand.NewPCG(seed, 9))
	return Scenario{
		Seed: seed, Processes: 2 + r.IntN(3), Candidates: 2, Slots: 2 + r.IntN(6), Tasks: 20 + r.IntN(60), Lease: time.Second,
		Delay: 5 * time.Millisecond, Lag: 30 * time.Millisecond, ReadLag: 3 * time.Millisecond, Faults: none,
		Rest: time.Duration(r.IntN(2)) * 2 * time.Second, Length: 20 * time.Second, Calm: 20 * time.Minute,
		Poisons: 1 + r.IntN(3), Budget: 1 + r.IntN(3), Stubborn: true,
	}
}

// TestPoison: tasks that kill every process that runs them end dead, though they take the scheduler
// down with them, though there may be nobody else, and though schedulers come and go in peace
// meanwhile. All others end as they would without them.
func TestPoison(t *testing.T) {
	t.Parallel()
	seeds := thorough.Pick(uint64(10), 40)
	var sum Counts
	for _, of := range []struct{ slots, tasks, poisons, parted int }{{2, 4, 1, 1}, {8, 24, 1, 3}, {8, 24, 2, 12}} {
		for _, processes := range []int{1, 2, 3} {
			for _, rest := range []time.Duration{0, 2 * time.Second} {
				for seed := range seeds {
					c, err := Run(Scenario{
						Seed: seed, Processes: processes, Candidates: processes, Slots: of.slots, Tasks: of.tasks,
						Lease: time.Second, Delay: 5 * time.Millisecond, Lag: 30 * time.Millisecond,
						ReadLag: 3 * time.Millisecond, Faults: none, Rest: rest, Length: 4*time.Second + 8*rest,
						Calm: 20 * time.Minute, Poisons: of.poisons, Budget: 3,
					})
					if err != nil {
						t.Fatalf("%d processes: %v", processes, err)
					}
					// Three losses are blamed on each, after so many have parted it from its neighbours. One more
					// is lost before anybody doubts it, in the beginning. A worker that is not the scheduler's own
					// is not counted either when that one leaves before it could notice. And none ends it where
					// something else may have run: what was stopped, or what was to come after its trial, where
					// nobody led for longer than that.
					most := 2 + 3*of.poisons + of.parted + c.Told
					if processes > 1 {
						most += c.Rests
					}
					sum.Add(c)
					if c.Crashes > most {
						t.Errorf("%+v, %d processes, rest %v, seed %d: %d crashes, %d schedulers left in peace", of, processes,
							rest, seed, c.Crashes, c.Rests)
					}
				}
			}
		}
	}
	t.Logf("%d crashes, %d dead tasks", sum.Crashes, sum.Buried) // the others were cancelled, or have expired
	if sum.Buried < 3*2*int(seeds) {
		t.Error("that proves nothing")
	}
}

// TestNobodyPaysForPeace: where nothing breaks, and schedulers only come and go cleanly, no
// attempt counts as lost with its worker, also not one that a careful scheduler was about to begin.
func TestNobodyPaysForPeace(t *testing.T) {
	t.Parallel()
	seeds := thorough.Pick(uint64(20), 60)
	rests, notes := 0, 0
	for _, processes := range []int{1, 2, 4} {
		for seed := range seeds {
			c, err := Run(Scenario{
				Seed: seed, Processes: processes, Candidates: processes, Slots: 2, Tasks: 60, Lease: time.Second,
				Delay: 5 * time.Millisecond, Lag: 30 * time.Millisecond, ReadLag: 30 * time.Millisecond, Faults: none,
				Rest: 300 * time.Millisecond, Length: 20 * time.Second, Calm: 5 * time.Minute,
			})
			if err != nil {
				t.Fatalf("%d processes: %v", processes, err)
			}
			if c.Counted > 0 || c.Crashes > 0 {
				t.Errorf("%d processes, seed %d: %d attempts count as lost; %d crashes", processes, seed, c.Counted, c.Crashes)
			}
			rests, notes = rests+c.Rests, notes+c.Begun
		}
	}
	t.Logf("%d terms have ended in peace, %d attempts were noted before they began", rests, notes)
	if rests == 0 || notes == 0 {
		t.Error("that proves nothing")
	}
}
