package election_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
)

// TestWhatLivesIsNotLookedInto by any verb.
func TestWhatLivesIsNotLookedInto(t *testing.T) {
	_, term, end := electiontest.NewTerm(t, "scheduler")
	defer end(nil)
	s, err := election.NewSession(election.SessionConfig{Bucket: "roles", InstanceID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Campaign(election.RoleConfig{Role: "scheduler"})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for want, v := range map[string]any{
			"term of scheduler at epoch": term, "election of scheduler by a": e, "session of a in roles": s,
		} {
			if got := fmt.Sprintf(verb, v); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q, want %q", verb, got, want)
			}
		}
	}
}
