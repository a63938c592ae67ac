package cycles

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// TestTheDocumentQuotesTheSums: what docs/verification/runs.md says about the file is what the file
// comes to.
func TestTheDocumentQuotesTheSums(t *testing.T) {
	lines, err := table("../cycles.csv").Read()
	if err != nil {
		t.Fatal(err)
	}
	runlog.Quoted(t, "../../..", "go run ./propertytests/campaign cycles -sum",
		func(w io.Writer) error { return tell(w, lines, tests) })
}

// said is what a test says that has passed.
func saidBy(name, played, counted string) string {
	return "=== RUN   " + name + "\n    a_test.go:7: 3 terms\n    a_test.go:8: cycles played: " + played +
		", each of them a leader killed\n    a_test.go:8: counted: " + counted + "\n--- PASS: " + name + " (1.20s)\nPASS\n"
}

// TestTheFileGoesOn: lines of one test and one product are summed up, beside those of others.
func TestTheFileGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cycles.csv")
	kill := test{"TestKill", elections}
	for _, c := range []struct {
		of                    test
		mark, played, counted string
	}{
		{kill, "now", "3", "3 leaders killed; 0 violations"},
		{kill, "before", "40", "40 leaders killed"},
		{test{"TestOther", tasks}, "now", "5", "5 tasks"},
		{kill, "now", "2", "4 leaders killed; 7 late writes, refused; 0 violations"},
	} {
		l, err := c.of.read(saidBy(c.of.name, c.played, c.counted))
		if err != nil {
			t.Fatal(err)
		}
		l.product = c.mark
		if err := table(path).Add(l); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := table(path).Read()
	if err != nil {
		t.Fatal(err)
	}
	for mark, want := range map[string]string{
		"now":    "5 cycles: 7 leaders killed; 0 violations; 7 late writes, refused",
		"before": "40 cycles: 40 leaders killed",
		"":       "45 cycles: 47 leaders killed; 0 violations; 7 late writes, refused",
		"later":  "no cycles",
	} {
		if s, err := total(lines, kill.name, mark); err != nil || s.String() != want {
			t.Errorf("%q: %v, %v, want %s", mark, s, err, want)
		}
	}
	lines[0].counted = "many"
	if s, err := total(lines, kill.name, ""); err == nil {
		t.Errorf("%v of a line that cannot be read", s)
	}
}

// TestWhatWasNotPlayedIsNotCounted: a test that has not passed, or does not say once how many
// cycles it has played and what they came to, has played none.
func TestWhatWasNotPlayedIsNotCounted(t *testing.T) {
	whole := saidBy("TestKill", "3", "3 leaders killed")
	for name, said := range map[string]string{
		"nothing":      "testing: warning: no tests to run\nPASS\n",
		"skipped":      strings.Replace(whole, "--- PASS", "--- SKIP", 1),
		"failed":       strings.Replace(whole, "--- PASS", "--- FAIL", 1),
		"another test": strings.Replace(whole, "--- PASS: TestKill ", "--- PASS: TestKiller ", 1),
		"no cycles":    strings.Replace(whole, "cycles played: 3", "cycles played: none", 1),
		"no counts":    strings.Replace(whole, "counted:", "perhaps:", 1),
		"odd counts":   saidBy("TestKill", "3", "3 leaders killed; some writes"),
		"twice":        whole + whole,
		"by a child":   strings.Replace(whole, "    a_test.go:8: cycles", "cycles", 1),
	} {
		if l, err := (test{"TestKill", elections}).read(said); err == nil {
			t.Errorf("%s: %v", name, l)
		}
	}
}

// TestWhatHasFailedIsCounted: without cycles, beside those that were played, with what the test has
// said about it.
func TestWhatHasFailedIsCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cycles.csv")
	kill, exit := test{"TestKill", elections}, errors.New("exit status 2")
	const message = "=== RUN   TestKill\n    a_test.go:7: 3 terms\n"
	for said, want := range map[string]string{
		message + "    b.go:9: E1: two leaders of r:\n          a led\n    b.go:9: what led to it:\n" +
			"--- FAIL: TestKill (1s)\n": "violation: E1: two leaders of r:",
		message + "panic: test timed out after 1m0s\n\ngoroutine 1:\n    a_test.go:7\n": "timeout",
		message + "    a_test.go:9: not within 2m0s: a leads; \"b\" does\n" +
			"--- FAIL: TestKill (1s)\n": "not within 2m0s: a leads, \"b\" does",
		saidBy("TestKill", "3", "3 leaders killed"): "3 terms",
		"": "exit status 2",
	} {
		if l := kill.failed(said, exit); l.test != kill.name || l.cycles != 0 || l.counted != "1 parts failed: "+want {
			t.Errorf("%+v, want %q", l, want)
		}
	}
	passed, err := kill.read(saidBy(kill.name, "3", "3 leaders killed; 0 violations"))
	if err != nil {
		t.Fatal(err)
	}
	timeout := kill.failed("panic: test timed out after 1m0s\n", exit)
	for i, want := range []string{
		"0 cycles: 1 parts failed: timeout",
		"3 cycles: 1 parts failed: timeout; 3 leaders killed; 0 violations",
		"3 cycles: 2 parts failed: timeout; 3 leaders killed; 0 violations",
	} {
		if err := table(path).Add([]cyclePart{timeout, passed, timeout}[i]); err != nil {
			t.Fatal(err)
		}
		lines, err := table(path).Read()
		if err != nil {
			t.Fatal(err)
		}
		if s, err := total(lines, kill.name, ""); err != nil || s.String() != want {
			t.Errorf("%v, %v, want %s", s, err, want)
		}
	}
}

// TestMatching: a name, a part of one that several have, and one that none has.
func TestMatching(t *testing.T) {
	for of, want := range map[string]int{"FencedLedgers": 1, "ClusterClock": 3, "": len(tests)} {
		if some, err := matching(of); err != nil || len(some) != want {
			t.Errorf("%q: %v, %v, want %d", of, some, err, want)
		}
	}
	for _, of := range []string{"TestNothing", "("} {
		if some, err := matching(of); err == nil {
			t.Errorf("%q: %v", of, some)
		}
	}
}
