package findings

import (
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
)

// TestAbsentIsNamed: a role that only members take part in which would not lead it now is not to be
// removed. The finding says who they are and why, and what has it led again.
func TestAbsentIsNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		why       string
		says, fix string
	}{
		{
			"cooling down", "work failed (a); none of those that take part would lead it now: a (cooling down)",
			"see in its log",
		},
		{"paused", "a (paused)", "rolectl resume r a"},
		{"unhealthy", "a (unhealthy)", "see its log"},
		{"", "a (paused, unhealthy or cooling down: it does not say which)", "see the log of a"},
	} {
		f := RoleFacts{Age: time.Second, Info: election.RoleInfo{
			Role: "r", Vacant: true, By: "a", Reason: "work failed", Absent: []election.Absent{{Instance: "a", Why: test.why}},
		}}
		var l List
		l.Roles("roles", []RoleFacts{f}, nil)
		if len(l) != 1 || l[0].Level != Warning || !strings.Contains(l[0].Message, test.says) ||
			!strings.Contains(l[0].Fix, test.fix) || strings.Contains(l[0].Fix, "roles rm") {
			t.Errorf("%q: %+v", test.why, l)
		}
	}
}
