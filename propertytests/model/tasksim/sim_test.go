package tasksim

import (
	"flag"
	"io"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

var schedules = flag.Int("tasksim.schedules", asked(),
	"how many schedules are played of each sort; if nobody says how many, more of those that are drawn for shrinking")

// usual is how many schedules of each sort are played where nothing is left out.
const usual = 150

// asked is how many are played unless somebody says how many.
func asked() int {
	return thorough.Pick(usual/5, usual)
}

var trace = flag.String("tasksim.trace", "",
	"a task whose story is printed, for a run with -rapid.seed or -rapid.failfile")

func TestMain(m *testing.M) {
	debug.SetGCPercent(1000) // a few megabytes live at a time: to look through them less often saves a fifth
	os.Exit(m.Run())
}

func story() io.Writer {
	if *trace == "" {
		return nil
	}
	return os.Stdout
}

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
	s.Steps = of("steps", 0, 0, 1000, 5000)
	s.Remakes = rapid.Bool().Draw(t, "remakes")
	s.Rotated = float64(rapid.SampledFrom([]int{0, 5, 30}).Draw(t, "rotated")) / 100
	s.Bounded = rapid.Bool().Draw(t, "bounded")
	s.Deploys = rapid.Bool().Draw(t, "deploys")
	s.Budget = rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "budget")
	s.Chained = rapid.Bool().Draw(t, "chained")
	s.Candidates = rapid.IntRange(2, s.Processes).Draw(t, "candidates")
	s.Wiped = float64(rapid.SampledFrom([]int{0, 20, 60}).Draw(t, "wiped")) / 100
	s.AtRest = rapid.Bool().Draw(t, "at rest")
	s.Batches = rapid.Bool().Draw(t, "batches")
	s.Deaf = rapid.Bool().Draw(t, "deaf")
	s.Sharing = rapid.Bool().Draw(t, "sharing")
	s.Bundles = rapid.SampledFrom([]int{0, 1, 4, 20}).Draw(t, "bundles")
	return s
}

func TestTasks(t *testing.T) {
	t.Parallel()
	checks := "1"
	if testing.Short() {
		checks = "5" // of which rapid plays a fifth then
	}
	_ = flag.Set("rapid.checks", checks)
	all := *schedules
	if all == asked() {
		all = usual // these alone bring everything that the rules are about
	}
	var sum Counts
	for i := 0; i < all; i += 50 {
		n := min(50, all-i)
		for range n {
			rapid.Check(t, func(rt *rapid.T) {
				s := draw(rt)
				s.Trace, s.Story = *trace, story()
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
	t.Logf("%d schedules: %+v", all, sum)
	sum.mustCover(t, all)
}

// enough is how many schedules are expected to bring everything that mustCover asks for. The rarest
// of it are disputed limits and tasks that are dead for lost workers: 3 and 5 times in the poorest
// of 120 runs of 150 schedules, a dozen times as a rule.
const enough = 100

// mustCover fails when something did not happen, or hardly ever, that the rules are about.
func (c *Counts) mustCover(t *testing.T, schedules int) {
	t.Helper()
	if schedules < enough {
		return // too few to expect the rare ones
	}
	for what, n := range map[string]int{
		"runs": c.Started, "adoptions": c.Adopted, "reruns": c.Reruns, "rejections": c.Rejected, "refused writes": c.Refused,
		"cancelled tasks": c.Cancelled, "handlers that were told why": c.Told, "requeued tasks": c.Requeued,
		"submissions that found their key taken": c.Shared,
		"pauses and drains":                      c.Steered, "checkpoints": c.Checkpoints, "resumed attempts": c.Resumed,
		"ticks":         c.Ticks,
		"dropped ticks": c.Dropped, "lost workers": c.Counted, "tasks that are dead for those": c.Buried,
		"inputs that could not be decoded": c.Undecoded, "limits in records": c.Rebound, "disputed limits": c.Disputed,
		"fenced schedulers": c.Fenced, "stale results": c.Stale,
		"late writes": c.LateWrites, "deposed schedulers": c.Depositions, "outcomes": c.Outcomes,
		"assignments left out": c.Unsent, "writes that are never stored": c.Unstored,
		"submissions of a later version": c.Opaque, "definitions of one": c.Unreadable,
		"frames refused for a later epoch in view": c.StaleFrames, "assignments in those": c.StalePushed,
		"processes that stood still": c.Pauses, "what waited for these": c.Held, "buckets recreated": c.Remade,
		"sessions whose records were removed": c.Wipes, "sessions ended for the state": c.Awaited,
		"workers that did not answer": c.Unanswered, "sessions ended at rest": c.EndedAtRest,
		"messages that missed a process": c.Missed, "workers that were named for that": c.Named,
		"rotations": c.Rotations, "steps of the stream's clock": c.Stepped,
		"handlers that began in sessions of a bucket that was gone": c.Outlived,
		"outcomes that have expired":                                c.Expired, "ids that were used again": c.Reused,
		"ticks that were there already": c.Squatted, "recurrences that were changed": c.Redefined,
		"definitions of a lower version": c.Lower, "recurrences that were paused or resumed": c.PausedTicks,
		"ticks that were skipped": c.LeftOut, "ticks that have waited": c.Waited, "tasks that were replaced": c.Replaced,
		"tasks that ran after others": c.Chains, "skipped tasks": c.Skipped,
		"outcomes that were made to stay": c.Stayed,
		"bundles that have ended":         c.Whole, "records of members that have ended": c.Ends,
		"batches": c.Together, "batches that were halved": c.Halved,
		"records of shares": c.Reshared, "turns beside one with a share of several": c.Shares,
		"completions of groups": c.Groups, "groups that were given up": c.GivenUp,
	} {
		if n < schedules/enough {
			t.Errorf("only %d %s in %d schedules: the run proves nothing", n, what, schedules)
		}
	}
}
