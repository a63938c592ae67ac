package roles

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/election"
)

// TestTakesBack: who takes a role back from its next leader is known beforehand: a candidate of the
// same tier with a higher priority that takes over.
func TestTakesBack(t *testing.T) {
	t.Parallel()
	before := election.RoleInfo{Role: "r", Leader: "a", Candidates: []election.Candidate{
		{Instance: "a", Priority: 10, Takeover: true},
		{Instance: "b", Priority: 5},
		{Instance: "c", Priority: 10},
		{Instance: "d", Tier: 1},
	}}
	for next, want := range map[string]string{"b": "a", "c": "", "d": "", "": "", "stranger": ""} {
		c, ok := takesBack(&before, next)
		if c.Instance != want || ok != (want != "") {
			t.Errorf("from %q: %+v, %v", next, c, ok)
		}
		if ok && !strings.Contains(takenBack(&before, c), "rolectl pause r a keeps it out") {
			t.Errorf("%s", takenBack(&before, c))
		}
	}
}
