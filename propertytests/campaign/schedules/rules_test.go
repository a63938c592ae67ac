package schedules

import (
	"os"
	"testing"
)

// TestEveryKindHasRules: what is played is there.
func TestEveryKindHasRules(t *testing.T) {
	for _, k := range kinds {
		if m, err := rulesOf(os.DirFS("../../.."), k.rules); err != nil || len(m) != 8 {
			t.Errorf("%s: %q, %v", k.name, m, err)
		}
	}
}
