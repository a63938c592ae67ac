package scheduler

import (
	"slices"
	"testing"
)

// TestShares: workers name by their labels what they may be lost with, and by no other label.
func TestShares(t *testing.T) {
	got := shares(map[string]string{"host": "n1", "zone": "x", "disk": "fast"})
	if !slices.Equal(got, []string{"host n1", "zone x"}) {
		t.Error(got)
	}
	if got := shares(map[string]string{"host": "", "disk": "fast"}); len(got) > 0 {
		t.Error(got)
	}
}
