package storms_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// taskStorms are the shapes of weather for tasks. Each has its share of the hours, under a seed of
// its own.
var taskStorms = []struct {
	name    string
	share   float64
	ttl     time.Duration
	storage jetstream.StorageType
	storm   tasks.Storm
}{
	{
		"long leases", 0.3, 10 * time.Second, jetstream.MemoryStorage,
		tasks.Storm{Candidates: 3, Workers: 2, Lull: 20 * time.Minute},
	},
	{
		"restarts", 0.3, 6 * time.Second, jetstream.FileStorage,
		tasks.Storm{Candidates: 2, Workers: 2, Lull: 20 * time.Minute, Restarts: true},
	},
	{
		"rolling restarts", 0.2, 10 * time.Second, jetstream.MemoryStorage,
		tasks.Storm{Candidates: 3, Workers: 2, Lull: 5 * time.Minute, Peaceful: true},
	},
	{
		"synced", 0.1, 4 * time.Second, jetstream.MemoryStorage,
		tasks.Storm{Candidates: 3, Workers: 2, Lull: 5 * time.Minute, Sync: 10 * time.Millisecond},
	},
	{
		"short leases", 0.1, 2 * time.Second, jetstream.MemoryStorage,
		tasks.Storm{Candidates: 2, Workers: 2, Lull: 2 * time.Minute},
	},
}

// reled are the terms of schedulers beyond the first: a storm without any has only tried one
// scheduler.
const reled = "terms beyond the first"

// proof is what a shape must have brought about by itself.
func proof(s tasks.Storm) []string {
	wanted := []string{"faults", "fault/join", "fault/leave", reled}
	if s.Sync > 0 {
		wanted = append(wanted, "batches of outcomes", "bundles", "records beside bundles", "bundles ended")
	}
	if s.Restarts {
		wanted = append(wanted, "fault/restart")
	}
	if s.Peaceful {
		return append(wanted, "fault/rolling restart")
	}
	return append(wanted, "SessionLost")
}

// everyFate is after how many virtual hours every fault must have struck and everything that can
// follow have happened.
const everyFate = 2

// TestTasksStorms: schedulers, workers and those who submit on the real server, in virtual time,
// while paths break, the server restarts, processes crash, leave and come back, and schedulers are
// evicted: T1 to T5, ticks, unique keys, groups, tasks after others, a limit, and neighbours of
// lost workers. Each shape comes again until it has proven something by itself, and all of them
// until what is rarer has happened.
//
// ROLEMANAGER_STORM_HOURS, ROLEMANAGER_STORM_SEED and ROLEMANAGER_STORM_LULL as for
// TestBubbleStorms; a tenth of the hours, since an hour with tasks takes that much longer.
func TestTasksStorms(t *testing.T) {
	if os.Getenv("ROLEMANAGER_STORM_HOURS") == "" { // nobody asks for storms
		thorough.Only(t, "storms take a second for each of their minutes")
	}
	hours, seed := setting(t, "ROLEMANAGER_STORM_HOURS", 10*taskStormHours)/10, setting(t, "ROLEMANAGER_STORM_SEED", 1)
	lull := setting(t, "ROLEMANAGER_STORM_LULL", stormLull)
	wanted := []string{
		"faults", "tasks", "stored/succeeded", "adopted", "rerun/worker_lost", "ticks", "groups", "batch", "dependent",
	}
	if hours >= everyFate {
		wanted = append(wanted, tasks.FaultNames(true)...)
		wanted = append(wanted, "scheduler crashed", "stored/dead", "stored/cancelled", "stored/expired", "TaskStale",
			"existing", "requeued",
			"cancelled", "cancelled too late", "cancel pending", "paused", "drained", "submission not known", "SessionLost",
			"SessionKilled",
			"groups continued", "stored/skipped", "ended/cancelled", "ended/expired", "ended/timeout", "ended/session lost")
	}
	total, all, began := elections.NewTally(), played{}, time.Now()
	defer all.tell(t)
	untilAllHappened(t, total, wanted, len(taskStorms), rounds, func(i, nth int) {
		shape := taskStorms[i]
		if slices.Contains(unracedWithTasks, shape.name) {
			return
		}
		t.Run(shape.name, func(t *testing.T) {
			own := elections.NewTally()
			untilAllHappened(t, own, proof(shape.storm), 1, attempts, func(_, again int) {
				storm, began := shape.storm, time.Now()
				storm.Seed = uint64(seed) + uint64(nth) + uint64(again)*apart
				storm.Length = time.Duration(hours * shape.share * float64(time.Hour))
				storm.Lull = time.Duration(lull * float64(storm.Lull))
				natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
					a := tasks.New(t, s, tasks.Config{Name: "storm", TTL: shape.ttl, Storage: shape.storage})
					began := time.Now()
					defer func() { all.add(began, a.Tally.Count("faults"), a.Tally.Count("RolePromoted")) }()
					defer a.Close()
					a.Rage(storm)
					own.Merge(a.Tally)
					own.Add("attempts", len(a.Ledger.Runs()))
					own.Add("tasks", len(a.RecordLog.Records()))
					own.Add(reled, max(0, a.Tally.Count("RolePromoted")-1))
				})
				t.Logf("%+v took %v: %d faults, %d terms beyond the first", storm, time.Since(began).Round(time.Millisecond),
					own.Count("faults"), own.Count(reled))
			})
			total.Merge(own)
		})
	})
	t.Logf("took %v: %v", time.Since(began).Round(time.Millisecond), total)
}
