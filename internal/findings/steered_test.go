package findings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
)

// TestSteered: what an operator has told is reported with its author, its time and the command that
// takes it back. It is a warning when it has no end and lasts for more than a day, and while
// somebody still leads in a drained zone.
func TestSteered(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	drained := election.Steered{Zone: "dc1", By: "ops", Reason: "power", Since: now.Add(-time.Hour)}
	days := election.Steered{Role: "r", By: "ops", Since: now.Add(-72 * time.Hour)}
	ends := days
	ends.Until = now.Add(time.Hour)
	members := []MemberFacts{
		{Info: election.MemberInfo{Instance: "a", Zone: "dc1"}, Leads: []string{"own"}},
		{Info: election.MemberInfo{Instance: "b"}, Leads: []string{"r"}},
	}
	for _, test := range []struct {
		told      election.Steered
		members   []MemberFacts
		level     Level
		says, fix string
	}{
		{
			drained, members[1:], OK, "zone dc1 is drained by ops (power), since 2026-11-27 11:00 UTC; " +
				"rolectl zone undrain dc1 takes that back", "",
		},
		{drained, members, Warning, "and own is still led there", "rolectl zone undrain dc1"},
		{days, members, Warning, "role r is paused for all by ops, since 2026-11-24 12:00 UTC", "rolectl roles resume r"},
		{ends, nil, OK, "since 2026-11-24 12:00 UTC, 1h left; rolectl roles resume r", ""},
	} {
		var l List
		l.Steered([]election.Steered{test.told}, test.members, now)
		if len(l) != 1 || l[0].Level != test.level || !strings.Contains(l[0].Message, test.says) ||
			!strings.HasSuffix(l[0].Fix, test.fix) || (test.fix == "") != (l[0].Fix == "") {
			t.Errorf("%+v: %+v, want %v %q, %q", test.told, l, test.level, test.says, test.fix)
		}
	}
}

// TestPausedIsNoFault: a role that nobody leads because it is paused for all is told of by Steered
// alone, and asks for no other process.
func TestPausedIsNoFault(t *testing.T) {
	t.Parallel()
	paused := RoleFacts{
		Info: election.RoleInfo{
			Role: "r", Vacant: true, By: "a", Reason: "role paused", Paused: &election.Steered{Role: "r", By: "ops"},
		},
		Age: time.Hour,
	}
	var l List
	l.Roles("roles", []RoleFacts{paused}, nil)
	if l.Worst() != OK || slices.ContainsFunc(l, func(f Finding) bool { return strings.Contains(f.Message, "r has") }) {
		t.Errorf("%+v", l)
	}
	if got := paused.WhyVacant(); got != "paused for all by ops" {
		t.Errorf("nobody leads since it is %q", got)
	}
}
