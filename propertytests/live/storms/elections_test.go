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
)

// storms are the shapes of weather. Each runs for its share of the hours, under a seed of its own.
var storms = []struct {
	name    string
	share   float64 // of the hours
	storage jetstream.StorageType
	storm   elections.Storm
}{
	{"one role", 0.83, jetstream.MemoryStorage, elections.Storm{
		Processes: 3, Roles: 1, TTL: 90 * time.Second,
		Lull: 45 * time.Minute, Skew: 0.03,
	}},
	{"restarts", 0.043, jetstream.FileStorage, elections.Storm{
		Processes: 4, Roles: 2, TTL: 10 * time.Second,
		Lull: 45 * time.Minute, Skew: 0.03, Restarts: true,
	}},
	{"ranked", 0.034, jetstream.MemoryStorage, elections.Storm{
		Processes: 4, Roles: 3, TTL: 10 * time.Second,
		Lull: 45 * time.Minute, Skew: 0.03, Ranked: true,
	}},
	{"mixed", 0.034, jetstream.FileStorage, elections.Storm{
		Processes: 5, Roles: 2, TTL: 6 * time.Second,
		Lull: 45 * time.Minute, Mixed: true, Skew: 0.03, Restarts: true, Ranked: true,
	}},
	{"rotating", 0.053, jetstream.MemoryStorage, elections.Storm{
		Processes: 3, Roles: 2, TTL: 10 * time.Second,
		Lull: 45 * time.Minute, Rotate: true, Skew: 0.03,
	}},
	{"short", 0.003, jetstream.MemoryStorage, elections.Storm{
		Processes: 3, Roles: 1, TTL: time.Second,
		Lull: 5 * time.Second, Skew: 0.03,
	}},
	{"many processes", 0.0005, jetstream.MemoryStorage, elections.Storm{
		Processes: manyProcesses, Roles: 1,
		TTL: 10 * time.Second, Gap: 10 * time.Second, Lull: 20 * time.Second, Skew: 0.03,
	}},
	{"many roles", 0.0015, jetstream.MemoryStorage, elections.Storm{
		Processes: 3, Roles: manyRoles, TTL: 10 * time.Second,
		Lull: time.Minute, Skew: 0.03,
	}},
}

// long are shapes that only CI plays, unless somebody asks for storms: "mixed" has the faults of
// the first two, and the last two have many of what the others have few.
var long = []string{"restarts", "ranked", "many processes", "many roles"}

// everything is after how many virtual hours everything that can follow must have happened, in one
// shape or another. rare is the same for what is rare: claims stand in line, and two at once happen
// about once in ten hours.
const (
	everything = 20
	rare       = 400
)

// TestBubbleStorms: processes on the real server, in virtual time, while links break, servers
// restart, processes crash and come back, records are deleted and garbled, and leaders are evicted.
// No two lead at once, epochs increase, callbacks match, work returns before a role is given away,
// nothing is written in a hot loop, and after each storm every role is led. When all is quiet then
// a leader crashes, and what it led is led again within its TTL by the slowest clock.
//
// Each shape proves something by itself: it has all its candidates in line before the first fault,
// and continues until each kind of fault has struck it and every role has had a second term. All of
// them together continue until what is rarer has happened too.
//
// ROLEMANAGER_STORM_HOURS sets how many virtual hours all of them last together,
// ROLEMANAGER_STORM_SEED the first seed, and ROLEMANAGER_STORM_LULL by how much the quiet between
// storms is longer.
func TestBubbleStorms(t *testing.T) {
	hours, seed := setting(t, "ROLEMANAGER_STORM_HOURS", stormHours), setting(t, "ROLEMANAGER_STORM_SEED", 1)
	lull := setting(t, "ROLEMANAGER_STORM_LULL", stormLull)
	some := os.Getenv("ROLEMANAGER_STORM_HOURS") == "" && !thorough.Larger()
	wanted := []string{"faults", "terms", "samples of IsLeader"}
	if hours >= everything {
		wanted = append(wanted, elections.FaultNames(true)...)
		wanted = append(wanted, "converged", "Heartbeat/unknown", "Heartbeat/refused", "RoleDemoted/evicted",
			"RoleDemoted/transferred",
			"RoleDemoted/outranked", "RoleDemoted/work failed", "RoleStuck", "RoleRotated", "RecordIgnored")
	}
	if hours >= rare {
		wanted = append(wanted, "ClaimAttempted/refused")
	}
	total, all, began := elections.NewTally(), played{}, time.Now()
	defer all.tell(t)
	untilAllHappened(t, total, wanted, len(storms), rounds, func(i, nth int) {
		shape := storms[i]
		if slices.Contains(unraced, shape.name) || some && slices.Contains(long, shape.name) {
			return
		}
		t.Run(shape.name, func(t *testing.T) {
			storm := shape.storm
			storm.Seed = uint64(seed) + uint64(nth)
			storm.Length = time.Duration(hours * shape.share * float64(time.Hour))
			storm.Lull = time.Duration(lull * float64(storm.Lull))
			began := time.Now()
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				a, began := elections.New(t, s, shape.storage), time.Now()
				defer func() {
					terms, _ := a.Ledger.Terms()
					all.add(began, a.Tally.Count("faults"), terms)
				}()
				a.Rage(storm)
				total.Merge(a.Tally)
				terms, samples := a.Ledger.Terms()
				total.Add("terms", terms)
				total.Add("samples of IsLeader", samples)
				t.Logf("%v: %d faults, %d terms, %d samples, led again within %v at most; %d leaders crashed in the calm, %d "+
					"roles led again in time",
					storm, a.Tally.Count("faults"), terms, samples, a.Longest(), a.Tally.Count("leaders crashed in the calm"),
					a.Tally.Count("led again in time"))
			})
			t.Logf("took %v", time.Since(began).Round(time.Millisecond))
		})
	})
	t.Logf("took %v: %v", time.Since(began).Round(time.Millisecond), total)
}
