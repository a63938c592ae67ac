package tasksim

import (
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var schedules = flag.Int("tasksim.schedules", 150, "how many schedules are played of each sort")

var trace = flag.String("tasksim.trace", "", "a task whose story is printed, for a run with -rapid.seed or -rapid.failfile")

func draw(t *rapid.T) Scenario {
	ms := func(name string, from, to int) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Millisecond
	}
	percent := func(name string, most int) float64 { return float64(rapid.IntRange(0, most).Draw(t, name)) / 100 }
	of := func(name string, all ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(all).Draw(t, name)) * time.Millisecond
	}
	s := Scenario{
		Seed:      rapid.Uint64().Draw(t, "seed"),
		Processes: rapid.IntRange(2, 6).Draw(t, "processes"),
		Slots:     rapid.IntRange(1, 6).Draw(t, "slots"),
		Tasks:     rapid.IntRange(5, 120).Draw(t, "tasks"),
		Lease:     time.Second,
		Delay:     of("delay", 1, 5, 30, 100),
		Late:      percent("late", 8),
		Loss:      percent("loss", 15),
		Doubled:   percent("doubled", 15),
		Lag:       of("lag", 3, 30, 100, 300, 1000),
		ReadLag:   of("read lag", 3, 30, 300),
		Faults:    ms("faults", 300, 5000),
		Deposed:   float64(rapid.SampledFrom([]int{0, 3, 20, 50}).Draw(t, "deposed")) / 100,
		Length:    ms("length", 5000, 20000),
		Calm:      5 * time.Minute,
	}
	if rapid.IntRange(0, 3).Draw(t, "views that lag far behind") == 3 {
		s.Delay, s.ReadLag, s.Lag, s.Deposed, s.Processes = time.Millisecond, 2*time.Millisecond, 3*time.Second, 0.5, 6
		s.Faults = 300 * time.Millisecond
	}
	s.Recurring = rapid.Bool().Draw(t, "recurring")
	s.Retention = of("retention", 0, 0, 200, 1000, 3000)
	s.Unsendable = percent("unsendable", 10)
	s.Unstorable = percent("unstorable", 10)
	s.Versions = rapid.Bool().Draw(t, "versions")
	s.Skewed = rapid.Bool().Draw(t, "skewed")
	s.Candidates = rapid.IntRange(2, s.Processes).Draw(t, "candidates")
	return s
}

func TestTasks(t *testing.T) {
	_ = flag.Set("rapid.checks", "1")
	var sum Counts
	for i := 0; i < *schedules; i += 50 {
		n := min(50, *schedules-i)
		for range n {
			rapid.Check(t, func(rt *rapid.T) {
				s := draw(rt)
				s.Trace = *trace
				c, err := Run(s)
				sum.Add(c)
				if err != nil {
					rt.Fatal(err)
				}
			})
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d schedules: %+v", *schedules, sum)
	for what, n := range map[string]int{
		"runs": sum.Started, "adoptions": sum.Adopted, "reruns": sum.Reruns, "rejections": sum.Rejected, "refused writes": sum.Refused,
		"cancelled tasks": sum.Cancelled, "requeued tasks": sum.Requeued, "submissions that found their key taken": sum.Shared,
		"pauses and drains": sum.Steered, "checkpoints": sum.Checkpoints, "resumed attempts": sum.Resumed, "ticks": sum.Ticks,
		"dropped ticks": sum.Dropped, "lost workers": sum.Counted, "fenced schedulers": sum.Fenced, "stale results": sum.Stale, "late writes": sum.LateWrites, "deposed schedulers": sum.Depositions, "outcomes": sum.Outcomes,
		"assignments left out": sum.Unsent, "writes that are never stored": sum.Unstored, "submissions of a later version": sum.Opaque, "definitions of one": sum.Unreadable,
		"outcomes that have expired": sum.Expired, "ids that were used again": sum.Reused, "ticks that were there already": sum.Squatted,
	} {
		if n == 0 {
			t.Errorf("no %s: the run proves nothing", what)
		}
	}
}
