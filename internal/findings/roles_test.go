package findings

import (
	"testing"

	"github.com/rolemanager/rolemanager/election"
)

// TestAllLed: what is said about roles with which nothing is wrong is true of each of them, and the
// built-in worker of "rolectl dev" has no successor.
func TestAllLed(t *testing.T) {
	t.Parallel()
	role := func(name, leader, successor string) RoleFacts {
		return RoleFacts{
			Info: election.RoleInfo{Role: name, Leader: leader, Successor: successor, State: election.RoleLeading},
			TTL:  1,
		}
	}
	left := RoleFacts{Info: election.RoleInfo{Role: "once", Vacant: true, By: "a", Reason: "work returned"}}
	members := []election.MemberInfo{{Instance: DevMember, Meta: map[string]string{MetaProgram: ProgramDev}}}
	dev := role(DevMember, DevMember, "")
	shard := role("orders-0", "a", "")
	shard.Info.Spread = true
	shard.Info.Candidates = []election.Candidate{{Instance: "a"}, {Instance: "b"}}
	global := role("global", "a", "")
	global.Info.Waiting = []election.Waiting{{Instance: "b", For: "local"}}
	for _, test := range []struct {
		roles []RoleFacts
		says  string
	}{
		{nil, "no role has been claimed here"},
		{[]RoleFacts{role("r", "a", "b")}, "1 role, with a leader and a successor"},
		{[]RoleFacts{role("r", "a", "b"), role("s", "a", "b"), left}, "2 roles, all with a leader and a successor"},
		{[]RoleFacts{global}, "1 role, with a leader and a successor"},
		{[]RoleFacts{shard}, "1 role, with a leader and a successor"},
		{[]RoleFacts{dev}, "1 role, with a leader; rolectl-dev needs no successor"},
		{
			[]RoleFacts{role("r", "a", "b"), dev},
			"2 roles, all with a leader and a successor, but for rolectl-dev, which needs none",
		},
		{
			[]RoleFacts{left},
			"left cleanly, with no candidates: once (work returned (a), for 0s); if a role is still used, start a process " +
				"that contends for it",
		},
	} {
		var l List
		l.Roles("roles", test.roles, members)
		said := l[0].Message
		if l.Worst() != OK {
			t.Errorf("%+v: %+v", test.roles, l)
		}
		if said != test.says {
			t.Errorf("%+v: %q, want %q", test.roles, said, test.says)
		}
	}
}
