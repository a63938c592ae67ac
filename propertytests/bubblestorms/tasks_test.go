package bubblestorms_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/arena"
	"github.com/rolemanager/rolemanager/propertytests/taskarena"
)

// taskStorms are the shapes of weather for tasks. Each has its share of the hours, under a seed of its own.
var taskStorms = []struct {
	name    string
	share   float64
	ttl     time.Duration
	storage jetstream.StorageType
	storm   taskarena.Storm
}{
	{"long leases", 0.4, 10 * time.Second, jetstream.MemoryStorage, taskarena.Storm{Candidates: 3, Workers: 2, Lull: 20 * time.Minute}},
	{"restarts", 0.3, 6 * time.Second, jetstream.FileStorage, taskarena.Storm{Candidates: 2, Workers: 2, Lull: 20 * time.Minute, Restarts: true}},
	{"rolling restarts", 0.2, 10 * time.Second, jetstream.MemoryStorage, taskarena.Storm{Candidates: 3, Workers: 2, Lull: 5 * time.Minute, Peaceful: true}},
	{"short leases", 0.1, 2 * time.Second, jetstream.MemoryStorage, taskarena.Storm{Candidates: 2, Workers: 2, Lull: 2 * time.Minute}},
}

// everyFate is after how many virtual hours every fault must have struck and everything that can follow have happened.
const everyFate = 4

// TestTasksStorms: schedulers, workers and those who submit on the real server, in virtual time, while paths break, the server
// restarts, processes crash, leave and come back, and schedulers are evicted: T1 to T5, ticks and unique keys.
//
// ROLEMANAGER_STORM_HOURS and ROLEMANAGER_STORM_SEED as for TestBubbleStorms; a tenth of the hours, since an hour with tasks takes
// that much longer.
func TestTasksStorms(t *testing.T) {
	hours, seed := setting(t, "ROLEMANAGER_STORM_HOURS", 10*taskStormHours)/10, setting(t, "ROLEMANAGER_STORM_SEED", 1)
	wanted := []string{"faults", "tasks", "stored/succeeded", "adopted", "rerun/worker_lost", "ticks"}
	if hours >= everyFate {
		wanted = append(wanted, taskarena.FaultNames(true)...)
		wanted = append(wanted, "scheduler crashed", "stored/dead", "stored/cancelled", "stored/expired", "TaskStale", "existing", "requeued",
			"cancelled", "cancelled too late", "cancel pending", "paused", "drained", "submission not known", "SessionLost", "SessionKilled",
			"ended/assign: the task was cancelled or has expired", "ended/assign: the attempt took longer than its timeout")
	}
	total, began := arena.NewTally(), time.Now()
	hours *= untilAllHappened(t, total, wanted, len(taskStorms), func(i, nth int) {
		shape := taskStorms[i]
		t.Run(shape.name, func(t *testing.T) {
			storm, began := shape.storm, time.Now()
			storm.Seed = uint64(seed) + uint64(nth)
			storm.Length = time.Duration(hours * shape.share * float64(time.Hour))
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				a := taskarena.New(t, s, taskarena.Config{Name: "storm", TTL: shape.ttl, Storage: shape.storage})
				defer a.Close()
				a.Rage(storm)
				total.Merge(a.Tally)
				total.Add("attempts", len(a.Ledger.Runs()))
				total.Add("tasks", len(a.Chronicle.Records()))
			})
			t.Logf("%+v took %v", storm, time.Since(began).Round(time.Millisecond))
		})
	})
	t.Logf("%v virtual hours in %v: %v", hours, time.Since(began).Round(time.Millisecond), total)
}
