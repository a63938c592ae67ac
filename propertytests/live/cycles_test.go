package live_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// cycles is how often a test does what it does to processes, servers and clocks: once, or as
// ROLEMANAGER_CYCLES says.
func cycles(t *testing.T) int {
	t.Helper()
	return cyclesOf(t, "ROLEMANAGER_CYCLES", 1, 1)
}

// cyclesOf is a number of cycles from the environment.
func cyclesOf(t *testing.T, name string, unset, least int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		t.Fatalf("%s: %q is not a number of cycles", name, text)
	}
	return n
}

// count is how often something has happened.
type count struct {
	n    int
	what string
}

// counts are what the cycles of a test come to.
type counts []count

// add adds to what has that name, or puts it at the end.
func (all *counts) add(n int, what string) {
	i := slices.IndexFunc(*all, func(c count) bool { return c.what == what })
	if i < 0 {
		*all = append(*all, count{n, what})
		return
	}
	(*all)[i].n += n
}

// String is what the command propertytests/campaign/cycles reads.
func (all counts) String() string {
	texts := make([]string, 0, len(all))
	for _, c := range all {
		texts = append(texts, fmt.Sprint(c.n, " ", c.what))
	}
	return strings.Join(texts, "; ")
}

// played says how often what was done, and what it has come to: the command
// propertytests/campaign/cycles reads both.
func played(t *testing.T, n int, what string, counted counts) {
	t.Helper()
	t.Logf("cycles played: %d, each of them %s", n, what)
	t.Logf("counted: %v", counted)
}

// TestCounts: what has one name is one number.
func TestCounts(t *testing.T) {
	var all counts
	for _, c := range (counts{{3, "terms"}, {0, "violations"}, {4, "terms"}}) {
		all.add(c.n, c.what)
	}
	if got, want := all.String(), "7 terms; 0 violations"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
