package doctor

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// inOrder are the causes that end a role's use when nobody else wants it: a command that ran once, a service that was taken down.
var inOrder = []string{
	protocol.WorkReturned.String(), protocol.SessionClosed.String(), protocol.SteppedDown.String(), protocol.Transferred.String(),
	protocol.Outranked.String(),
}

// roles checks that every role has a leader that beats, and somebody to take over. A role that was left in order and that nobody
// contends for is told, and is not wrong: its record stays behind when it is no longer used.
func (x *examination) roles() {
	docs, _ := x.s.DescribeRoles() // without names there is no error
	led := 0
	var left []string
	for _, d := range docs {
		switch {
		case d.Vacant && len(d.Candidates) == 0 && slices.Contains(inOrder, d.Reason):
			left = append(left, fmt.Sprintf("%s (%s, for %s)", d.Role, d.WhyVacant(), show.Age(d.Age)))
		case d.Newer: // it may well be led: to remove the record would take it from a leader that lives
			x.add(warning, "roles", "ask with a rolectl of that version; older members leave the role alone until they are upgraded",
				"whether anybody leads %s cannot be told: a later version wrote its record", d.Role)
		case d.Unreadable:
			x.add(critical, "roles", "see records above; if nobody claims it, remove the record: nats kv del "+x.a.Bucket+" "+protocol.RoleKey(d.Role),
				"nobody leads %s: its record cannot be read", d.Role)
		case d.Vacant && len(d.Candidates) == 0:
			x.add(warning, "roles", "start a process that contends for it; if it is no longer used, remove its record: nats kv del "+x.a.Bucket+" "+protocol.RoleKey(d.Role),
				"nobody contends for %s any more, since %s: %s", d.Role, show.Age(d.Age), d.WhyVacant())
		case d.Leader == "" && len(d.Candidates) == 0:
			x.add(critical, "roles", "start a process that contends for it", "nobody leads %s and nobody is a candidate, for %s", d.Role, show.Age(d.Age))
		case d.Leader == "" && d.Age > max(2*d.TTL, 5*time.Second):
			x.add(critical, "roles", "see what its candidates log: rolectl inspect "+d.Role, "nobody leads %s, for %s: %s", d.Role, show.Age(d.Age), d.WhyVacant())
		case d.Leader == "":
			x.add(warning, "roles", "look again in a moment", "nobody leads %s just now: %s", d.Role, d.WhyVacant())
		case d.HeartbeatAge < 0 || d.HeartbeatAge > d.TTL:
			silent := "its last one is gone"
			if d.HeartbeatAge >= 0 {
				silent = "for " + show.Age(d.HeartbeatAge)
			}
			x.add(critical, "roles", "see whether "+d.Leader+" lives, and start another candidate: who sees its lease stand still takes over",
				"%s leads %s without a heartbeat: %s (TTL %s)", d.Leader, d.Role, silent, show.Age(d.TTL))
		case d.HeartbeatLate():
			x.add(warning, "roles", "see the load and the network of "+d.Leader, "%s leads %s, and its last heartbeat is %s old (TTL %s)", d.Leader, d.Role, show.Age(d.HeartbeatAge), show.Age(d.TTL))
		case d.Successor == "" && d.Role == inventory.DevMember && x.programOf(d.Leader) == inventory.ProgramDev: // it is alone by design
			led++
		case d.Successor == "":
			x.add(warning, "roles", "start a second process that contends for it", "nobody would take %s over from %s", d.Role, d.Leader)
		default:
			led++
		}
	}
	if led == len(docs)-len(left) {
		x.ok("roles", "%d, all with a leader and a successor", led)
	}
	if len(left) > 0 {
		x.ok("roles", "left in order, and nobody contends for them: %s; if one is still used, start a process that does", show.FirstFew(left))
	}
}

// programOf is what a member says it runs.
func (x *examination) programOf(instance string) string {
	for _, m := range x.s.Members() {
		if m.Instance == instance {
			return m.Meta[inventory.MetaProgram]
		}
	}
	return ""
}
