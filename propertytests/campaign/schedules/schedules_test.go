package schedules

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// TestTheDocumentQuotesTheSums: what docs/verification/runs.md says about the file is what the file
// comes to.
func TestTheDocumentQuotesTheSums(t *testing.T) {
	lines, err := table("../schedules.csv").Read()
	if err != nil {
		t.Fatal(err)
	}
	runlog.Quoted(t, "../../..", "go run ./propertytests/campaign schedules -sum",
		func(w io.Writer) error { return tell(w, lines) })
}

func TestTheFileGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schedules.csv")
	k, err := kindOf("elections")
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{
		"    sim_test.go:55: {Schedules:30 Steps:9 Terms:17 QuietTerms:2 Seconds:60}\n        faults · crash 3 · cut 4\n" +
			"        ends · closed 2\n",
		"    sim_test.go:55: {Schedules:30 Steps:9 Terms:3 Seconds:1}\n        faults · cut 1\n",
	} {
		all, err := table(path).Read()
		if err != nil {
			t.Fatal(err)
		}
		l, err := k.read(next(all, k.name), 30, said, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := table(path).Add(l); err != nil {
			t.Fatal(err)
		}
	}
	all, err := table(path).Read()
	if err != nil || len(all) != 2 || all[0].last != 20 || all[1].first != 21 || next(all, k.name) != 41 ||
		next(all, "tasks") != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if want := (rangeSum{seedRange{"elections", 1, 40, 60, 61, 8, 20, 0, ""}, 0}); total(all, k.name, "") != want {
		t.Errorf("%v, want %v", total(all, k.name, ""), want)
	}
	if _, err := k.read(1, 30, "PASS", false); err == nil {
		t.Error("a test that says nothing has played something")
	}
}

// TestWhatWasNotPlayedIsNotCounted: the line of a range that a violation has stopped says what was
// played of it, the next range begins behind that, and the sum leaves out what has no counters.
func TestWhatWasNotPlayedIsNotCounted(t *testing.T) {
	for _, c := range []struct {
		name, what, said string
		want             seedRange
	}{
		{
			"a wild seed", "elections", "    sim_test.go:44: wild seed 107, failed after 8 tests: two leaders\n--- FAIL",
			seedRange{"elections", 100, 107, 8, 0, 0, 0, 1, ""},
		},
		{
			"a wild seed, with counters", "elections",
			"    sim_test.go:43: {Schedules:8 Terms:17 Seconds:60}\n        faults · cut 3\n" +
				"    sim_test.go:44: wild seed 107, failed after 8 tests: two leaders\n",
			seedRange{"elections", 100, 107, 8, 60, 3, 17, 1, ""},
		},
		{
			"a schedule of rapid's", "elections", "    sim_test.go:47: [rapid] failed after 4 tests: two leaders\nTo reproduce",
			seedRange{"elections", 100, 119, 25, 0, 0, 0, 1, ""},
		},
		{
			"something at the end", "elections",
			"    sim_test.go:55: {Schedules:30 Terms:17 Seconds:60}\n        faults · cut 4\n" +
				"    sim_test.go:75: only 0 kills\n--- FAIL",
			seedRange{"elections", 100, 119, 30, 60, 4, 17, 1, ""},
		},
		{"a panic", "elections", "panic: impossible\n\ngoroutine 7", seedRange{"elections", 100, 119, 0, 0, 0, 0, 1, ""}},
		{
			"tasks", "tasks", "    rough_test.go:38: 5 schedules: {Terms:6 Depositions:3 Crashes:2 Cuts:1 Seconds:9}\n" +
				"    rough_test.go:39: -tasksim.seed 100, failed after 5 schedules: lost\n{Seed:7 Faults:1s}\n",
			seedRange{"tasks", 100, 100, 5, 9, 6, 6, 1, ""},
		},
		{
			"a storm", "storms",
			"    arena.go:99: E1: two leaders\n    played_test.go:23: {Storms:3 Seconds:7200 Faults:40 Terms:20}\n--- FAIL",
			seedRange{"storms", 100, 163, 3, 7200, 40, 20, 1, ""},
		},
		{
			"a storm that hangs", "taskstorms", "panic: test timed out after 2h0m0s\n\ngoroutine 7",
			seedRange{"taskstorms", 100, 163, 0, 0, 0, 0, 1, ""},
		},
	} {
		k, err := kindOf(c.what)
		if err != nil {
			t.Fatal(err)
		}
		l, err := k.read(100, 30, c.said, true)
		if err != nil || l != c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, l, err, c.want)
		}
		if n := next([]seedRange{l}, c.what); n != c.want.last+1 {
			t.Errorf("%s: the next range begins with %d", c.name, n)
		}
	}
	all := []seedRange{
		{"tasks", 1, 1, 30, 9, 8, 7, 0, ""},
		{"tasks", 2, 2, 30, 0, 0, 0, 1, "now"},
		{"tasks", 3, 3, 5, 4, 3, 2, 1, "now"},
	}
	got := total(all, "tasks", "")
	if want := (rangeSum{seedRange{"tasks", 1, 3, 35, 13, 11, 9, 2, ""}, 1}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := total(all, "tasks", "now"),
		(rangeSum{seedRange{"tasks", 2, 3, 5, 4, 3, 2, 2, "now"}, 1}); got != want {
		t.Errorf("of the rules as they are %v, want %v", got, want)
	}
}

// TestWhatIsTold: of a kind all, what is of each rules, and which seeds have no line.
func TestWhatIsTold(t *testing.T) {
	var said strings.Builder
	if err := tell(&said, []seedRange{
		{"tasks", 1, 1, 30, 3600, 8, 7, 0, ""},
		{"tasks", 2, 2, 30, 0, 0, 0, 1, "now"},
		{"tasks", 5, 6, 5, 3600, 3, 2, 0, "now"},
	}); err != nil {
		t.Fatal(err)
	}
	const want = `played  rules      first seed  last seed  schedules  hours  faults  terms  violations  not counted  below
tasks   all        1           6          35         2      11      9      1           1            -
tasks   not noted  1           1          30         1      8       7      0           0            1 in 2
tasks   now        2           6          5          1      3       2      1           1            -
elections: no line
losses: no line
tasks: no line has seeds 3 to 4
deploys: no line
storms: no line
taskstorms: no line
`
	if said.String() != want {
		t.Errorf("it tells\n%s, want\n%s", said.String(), want)
	}
}
