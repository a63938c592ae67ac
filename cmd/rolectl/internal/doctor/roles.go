package doctor

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// cleanly are the reasons for which a role is left when it is no longer used: a command that ran
// once, a service that was shut down.
var cleanly = []string{
	protocol.WorkReturned.String(), protocol.SessionClosed.String(), protocol.SteppedDown.String(),
	protocol.Transferred.String(),
	protocol.Outranked.String(),
}

// roles checks that every role has a leader with heartbeats, and a successor. A role that was left
// cleanly and that nobody contends for is reported, and is not a fault: its record stays in the
// bucket when the role is no longer used.
func (x *examination) roles() {
	docs, _ := x.s.DescribeRoles() // without names there is no error
	led := 0
	var left []string
	for _, d := range docs {
		switch {
		case d.Vacant && len(d.Candidates) == 0 && slices.Contains(cleanly, d.Reason):
			left = append(left, fmt.Sprintf("%s (%s, for %s)", d.Role, d.WhyVacant(), show.Age(d.Age)))
		case d.Newer: // removing the record could take the role from a live leader
			x.add(warning, "roles", "use a rolectl of that version; older members leave the role alone until they are upgraded",
				"the leader of %s is unknown: a later version wrote its record", d.Role)
		case d.Unreadable:
			x.add(critical, "roles",
				"see the check of records above; if nobody claims the role, remove the record: nats kv del "+x.a.Bucket+" "+
					record.RoleKey(d.Role),
				"nobody leads %s: its record cannot be read", d.Role)
		case d.Vacant && len(d.Candidates) == 0 && d.Reason != protocol.Abandoned:
			x.add(warning, "roles",
				"start a process that contends for it; if the role is no longer used, remove it: rolectl roles rm "+d.Role,
				"nobody has contended for %s for %s: %s", d.Role, show.Age(d.Age), d.WhyVacant())
		case d.Leader == "" && len(d.Candidates) == 0:
			x.add(critical, "roles",
				"start a process that contends for it; if the role is no longer used, remove it: rolectl roles rm "+d.Role,
				"nobody has led %s for %s, and it has no candidate", d.Role, show.Age(d.Age))
		case d.Leader == "" && d.Age > max(2*d.TTL, 5*time.Second):
			x.add(critical, "roles", "check the logs of its candidates: rolectl inspect "+d.Role, "nobody has led %s for %s: %s",
				d.Role, show.Age(d.Age), d.WhyVacant())
		case d.Leader == "":
			x.add(warning, "roles", "check again in a moment", "nobody leads %s at the moment: %s", d.Role, d.WhyVacant())
		case d.HeartbeatAge < 0 || d.HeartbeatAge > d.TTL:
			silent := "its lease is gone"
			if d.HeartbeatAge >= 0 {
				silent = "for " + show.Age(d.HeartbeatAge)
			}
			x.add(critical, "roles",
				"check whether "+d.Leader+" is alive, and start another candidate: it takes over when it sees no heartbeat",
				"%s leads %s without a heartbeat: %s (TTL %s)", d.Leader, d.Role, silent, show.Age(d.TTL))
		case d.HeartbeatLate():
			x.add(warning, "roles", "check the load and the network of "+d.Leader,
				"%s leads %s, and its last heartbeat is %s old (TTL %s)", d.Leader, d.Role, show.Age(d.HeartbeatAge),
				show.Age(d.TTL))
		// it needs no successor
		case d.Successor == "" && d.Role == inventory.DevMember && x.programOf(d.Leader) == inventory.ProgramDev:
			led++
		case d.Successor == "":
			x.add(warning, "roles", "start a second process that contends for it", "nobody would take over %s from %s", d.Role,
				d.Leader)
		default:
			led++
		}
	}
	if led == len(docs)-len(left) {
		x.ok("roles", "%s, all with a leader and a successor", show.Count(led, "role"))
	}
	if len(left) > 0 {
		x.ok("roles", "left cleanly, with no candidates: %s; if a role is still used, start a process that contends for it",
			show.FirstFew(left))
	}
}

// programOf returns the program that a member gives in its Meta.
func (x *examination) programOf(instance string) string {
	for _, m := range x.s.Members() {
		if m.Instance == instance {
			return m.Meta[inventory.MetaProgram]
		}
	}
	return ""
}
