package electionsim

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/natstest/race"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

var (
	schedules = flag.Int("sim.schedules", asked(),
		"how many schedules to play; a third as many lose writes, as many are of an adopted bucket, and a tenth have claims "+
			"that go together")
	first = flag.Uint64("sim.seed", 1, "the first seed of the wild ones")
)

// asked is how many schedules are played unless somebody says how many.
func asked() int {
	return thorough.Pick(90, 300)
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(2000) // a few megabytes live at a time: to look through them less often saves a fifth
	flag.Parse()
	if race.Enabled || testing.Short() {
		*schedules = min(*schedules, 300)
	}
	n := *schedules / 3
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(n), "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestElection plays drawn schedules: two of three with every number as likely as the next, so with
// many faults, the rest drawn by rapid, which prefers few of them and shrinks what fails.
func TestElection(t *testing.T) {
	total := play(t, "wild", *first, *schedules-*schedules/3, wild)
	rapid.Check(t, func(t *rapid.T) {
		counts, err := Run(draw(t))
		total.Add(counts)
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Log(total)
	total.mustCover(t)
}

// mustCover fails when something did not happen that the rules are about.
func (c Counts) mustCover(t *testing.T) {
	if c.Schedules < 1000 {
		return // too few to expect the rare ones
	}
	often := map[string]int{
		"terms": c.Terms, "kills": c.Kills, "idle beats": c.IdleBeats, "ends of idle sessions": c.IdleKills,
		"watches over everything that were wanted": c.Widened, "leases that expired": c.Expired,
		"lost acknowledgements": c.LostAcks, "late flushes": c.Late,
		"answers that came twice": c.Again, "those after another write of their key": c.Outdated,
		"beats of unknown outcome that landed": c.UnknownBeats, "claims of unknown outcome that won": c.UnknownClaims,
		"sweeps": c.Sweeps, "forced evictions": c.Evictions, "markers over live leases": c.MarkersOverLive,
		"wiped leaders":  c.Wiped,
		"orphaned roles": c.Orphans, "unanswered idle beats": c.MutedIdle, "leaders lost before others saw them": c.Unseen,
		"workloads":                  c.Workloads,
		"successors that were woken": c.Woken,
		"takeovers":                  c.Causes["outranked"], "transfers": c.Causes["transferred"], "rotations": c.Rotations,
		"evicted terms": c.Causes["evicted"], "disconnected terms": c.Causes["disconnected"], "stuck work": c.Stuck,
		"duplicate ids": c.Duplicates, "closed sessions": c.Closed, "lost sessions": c.SessionsLost,
		"guarded writes": c.GuardAdmitted, "stale ones": c.GuardRefused, "stale ones of deposed leaders": c.GuardDeposed,
		"writes of former leaders that did not know yet": c.GuardUnaware, "forged ones": c.GuardForged,
		"resources recreated from their floor": c.GuardRemade,
		"leaders crashed with their records":   c.WithRecords,
		"skipped events":                       c.Skipped, "snapshots of lagging replicas": c.Lagging, "proofs": c.Validated,
	}
	if c.CrashedIn < c.Schedules*3/4 {
		t.Errorf("in only %d of %d schedules did a leader crash when all was quiet", c.CrashedIn, c.Schedules)
	}
	for what, n := range often {
		if n < c.Schedules/500 {
			t.Errorf("only %d %s in %d schedules", n, what, c.Schedules)
		}
	}
	if c.Drifting < c.Schedules/100 {
		t.Errorf("in only %d of %d schedules do clocks drift far apart", c.Drifting, c.Schedules)
	}
	for kind := range KindCount {
		if n := c.Faults[kind.String()]; n < c.Schedules/10 {
			t.Errorf("only %d faults of the kind %s in %d schedules", n, kind, c.Schedules)
		}
	}
	// In few schedules is the bucket recreated; TestBucketMadeAgain does that in all.
	made, seldom := c.recreation()
	for what, n := range made {
		if n < max(1, c.Schedules/2500) {
			t.Errorf("only %d %s in %d schedules", n, what, c.Schedules)
		}
	}
	for what, n := range seldom {
		if n < c.Schedules/2500 {
			t.Errorf("only %d %s in %d schedules", n, what, c.Schedules)
		}
	}
}

// TestLostReplies: an acknowledgement that is lost now and then costs hardly anybody the session,
// since the watch shows the beat, if late. Only with the watch away for two seconds of three may
// it.
func TestLostReplies(t *testing.T) {
	var total Counts
	schedules := thorough.Pick(uint64(50), 200)
	for seed := range schedules {
		p := wild(seed)
		p.Faults, p.Noise = nil, Noise{LostReply: 200, SlowWatch: 300}
		for i := range p.Members {
			p.Members[i].TTL = 3 * time.Second
		}
		counts, err := Run(p)
		if err != nil {
			t.Fatalf("seed %d: failed after %d tests: %v", seed, seed+1, err)
		}
		total.Add(counts)
	}
	if total.SessionsLost > total.Sessions/100 {
		t.Fatalf("failed after %d tests: %d sessions of %d were lost to lost replies", total.Schedules, total.SessionsLost,
			total.Sessions)
	}
}

// TestUnreadyCandidate: a candidate that lives and is eligible but does not see the role is not
// handed it, again and again.
func TestUnreadyCandidate(t *testing.T) {
	low := MemberPlan{TTL: time.Second, Priorities: []int{0}}
	high := MemberPlan{TTL: time.Second, Priorities: []int{5}, Takeover: true}
	counts, err := Run(&Plan{Seed: 1, Roles: 1, Members: []MemberPlan{low, high}, Faults: []Fault{
		{Kind: PauseRole, At: 3 * time.Second, Who: 1, For: 3 * time.Second}, // low leads
		{Kind: Blind, At: 5900 * time.Millisecond, Who: 1, For: 8 * time.Second},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if terms := counts.Terms - counts.QuietTerms; terms > 4 { // without those after the leader's crash, when all is over
		t.Fatalf("failed after 1 tests: the role changed hands %d times", terms)
	}
}

// TestDeterminism: a seed is a schedule.
func TestDeterminism(t *testing.T) {
	for seed := range thorough.Pick(uint64(10), 20) {
		plan := rapid.Custom(draw).Example(int(seed))
		if plan.Seed = seed; seed%2 == 1 {
			plan = losing(seed)
		}
		if a, b := run(plan).trace.String(), run(plan).trace.String(); a != b {
			t.Fatalf("seed %d gives two schedules:\n%s\n---\n%s", seed, a, b)
		}
	}
}
