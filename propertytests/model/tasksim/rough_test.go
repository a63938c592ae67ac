package tasksim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var rough = flag.Uint64("tasksim.seed", 0, "where the drawing of rough worlds begins, 0: anywhere")

// TestRoughWorlds plays schedules in which much goes wrong: those that are drawn for shrinking are
// mild ones mostly, and what takes several rare things at once does not happen in them.
func TestRoughWorlds(t *testing.T) {
	t.Parallel()
	from := *rough
	if from == 0 {
		from = uint64(time.Now().UnixNano())
	}
	r := rand.New(rand.NewPCG(from, 1))
	var sum, met Counts
	defer func() { t.Log(ofRules(&sum, &met)) }()
	for i := range *schedules {
		s := roughWorld(r)
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		met.Add(c.once())
		if err != nil {
			t.Logf("%d schedules: %+v", i+1, sum) // what came to pass counts, also where it ends so
			t.Fatalf("-tasksim.seed %d, failed after %d schedules: %v\n%+v", from, i+1, err, s)
		}
	}
	t.Logf("%d schedules: %+v", *schedules, sum)
	sum.mustCover(t, *schedules)
}

// roughWorld draws one.
func roughWorld(r *rand.Rand) Scenario {
	ms := func(all ...int) time.Duration { return time.Duration(all[r.IntN(len(all))]) * time.Millisecond }
	share := func(most int) float64 { return float64(r.IntN(most+1)) / 100 }
	s := Scenario{
		Seed: r.Uint64(), Processes: 2 + r.IntN(5), Slots: 1 + r.IntN(6), Tasks: 40 + r.IntN(80), Lease: time.Second,
		Delay: ms(1, 5, 30, 100), Late: share(8), Loss: share(15), Doubled: share(15), Lag: ms(3, 30, 100, 300, 1000),
		ReadLag: ms(3, 30, 300), Faults: ms(300, 500, 1000, 3000), Deposed: []float64{0, 0.03, 0.2, 0.5}[r.IntN(4)],
		Length: ms(5000, 10000, 20000), Calm: 5 * time.Minute, Recurring: r.IntN(2) == 0,
	}
	if r.IntN(2) == 0 { // the others meet more often what needs none of these
		s.Retention, s.Unsendable, s.Unstorable = ms(0, 200, 1000, 3000), share(10), share(10)
		s.Versions, s.Skewed, s.Remakes = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
		s.Steps = ms(0, 0, 1000, 5000)
		s.Rotated = []float64{0, 0.05, 0.3}[r.IntN(3)]
	}
	s.Chained = r.IntN(2) == 0
	s.Deploys, s.Bounded = r.IntN(3) == 0, r.IntN(2) == 0
	s.Budget = []int{0, 0, 1, 2, 3}[r.IntN(5)]
	s.Candidates = 2 + r.IntN(s.Processes-1)
	s.Wiped = []float64{0, 0.2, 0.6}[s.Seed%3]
	s.AtRest = s.Seed%5 < 2
	s.Batches = s.Seed%4 < 2
	s.Deaf = s.Seed%7 < 3
	s.Sharing = s.Seed%17 < 8
	if s.Seed%3 == 0 {
		s.Bundles = 1 + int(s.Seed%20)
	}
	if s.Seed%11 == 0 {
		s.Rewrites = 10 * time.Millisecond
	}
	if s.Renames = s.Chained && s.Retention > 0 && s.Seed%13 < 3; s.Renames {
		s.Length = 60 * time.Second // the completion of the earlier group is kept for long
	}
	return s
}

// TestAScheduleIsPlayedTheSameWayTwice: else a seed shows nothing, and what has failed cannot be
// shrunk.
func TestAScheduleIsPlayedTheSameWayTwice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	for range *schedules / 10 {
		s := roughWorld(r)
		var told [2]string
		for i := range told {
			var b strings.Builder
			s.Story = &b
			c, err := Run(s)
			told[i] = fmt.Sprintf("%s%+v %v", b.String(), c, err)
		}
		if told[0] == told[1] {
			continue
		}
		s.Story = nil
		again := strings.Split(told[1], "\n")
		for i, line := range strings.Split(told[0], "\n") {
			if i >= len(again) || line != again[i] {
				t.Fatalf("%+v: %s\nand then: %s", s, line, again[min(i, len(again)-1)])
			}
		}
	}
}
