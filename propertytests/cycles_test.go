package propertytests_test

import (
	"os"
	"strconv"
	"testing"
)

// cycles is how often a test does what it does to processes, servers and clocks: once, or as ROLEMANAGER_CYCLES says.
func cycles(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ROLEMANAGER_CYCLES")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("ROLEMANAGER_CYCLES: %q is no number of cycles", text)
	}
	return n
}

// played says how often what was done.
func played(t *testing.T, n int, what string) {
	t.Helper()
	t.Logf("cycles played: %d, each of them %s", n, what)
}
