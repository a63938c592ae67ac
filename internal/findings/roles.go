package findings

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// RoleFacts is what is known about a role.
type RoleFacts struct {
	Info election.RoleInfo
	// Age is that of the record; of its leader's end when dead.
	Age time.Duration
	// HeartbeatAge is the age of the last sign of the leader, -1 if none was seen.
	HeartbeatAge time.Duration
	TTL          time.Duration
	// Newer says that the record is unreadable because a later version wrote it.
	Newer bool
}

// FactsOf are the facts that an Observer or a Session knows about a role.
func FactsOf(info election.RoleInfo) RoleFacts {
	f := RoleFacts{Info: info, Age: info.Since, HeartbeatAge: -1, TTL: info.TTL}
	if info.Leader != "" && info.LastSeen > 0 {
		f.HeartbeatAge = info.LastSeen
	}
	return f
}

// Led reports whether somebody leads the role now, as far as can be seen.
func (f *RoleFacts) Led() bool { return f.Info.State == election.RoleLeading }

// State is the state of the role in a word: that of RoleInfo, or paused for one that nobody leads
// since it is paused for all.
func (f *RoleFacts) State() string {
	if f.paused() {
		return "paused"
	}
	return string(f.Info.State)
}

func (f *RoleFacts) paused() bool {
	return f.Info.Paused != nil && (f.Info.Vacant || f.Info.State == election.RoleVacant)
}

// HeartbeatLate reports whether the leader has missed more than one heartbeat. By default a
// heartbeat comes every fifth of a TTL.
func (f *RoleFacts) HeartbeatLate() bool { return f.HeartbeatAge > f.TTL/2 }

// WhyVacant says in short why nobody leads, "" if somebody does.
func (f *RoleFacts) WhyVacant() string {
	switch info := &f.Info; {
	case f.Newer:
		return "unknown: a later version wrote its record"
	case info.Unreadable:
		return "record cannot be read"
	case f.Led():
		return ""
	case f.paused():
		return SteeredText(info.Paused)
	case f.Waits():
		return "each process that takes part waits to lead another role: " + waitFor(info)
	case info.State == election.RoleSilent && f.HeartbeatAge < 0:
		return "no heartbeat of " + info.Leader + " was seen"
	case info.State == election.RoleSilent:
		return "no heartbeat of " + info.Leader + " for " + wording.Age(f.HeartbeatAge)
	case info.Vacant && info.By != "":
		return info.Reason + " (" + info.By + ")"
	case info.Vacant:
		return info.Reason
	case info.State == election.RoleDead:
		return "the session of its leader has ended"
	case info.Reason != "":
		return info.Reason
	}
	return "nobody has led it yet"
}

// cleanly are the reasons for which a role is left when it is no longer used: a command that ran
// once, a service that was shut down.
var cleanly = []string{
	protocol.WorkReturned.String(), protocol.SessionClosed.String(), protocol.SteppedDown.String(),
	protocol.Transferred.String(),
	protocol.Outranked.String(),
}

// Waits reports whether nobody holds the role since each process that takes part waits to lead
// another one.
func (f *RoleFacts) Waits() bool {
	return f.Info.Leader == "" && len(f.Info.Candidates) == 0 && len(f.Info.Waiting) > 0
}

// waitFor names the other roles, each once.
func waitFor(info *election.RoleInfo) string {
	var names []string
	for _, w := range info.Waiting {
		if !slices.Contains(names, w.For) {
			names = append(names, w.For)
		}
	}
	return wording.FirstFew(names)
}

// Left reports whether the role was left cleanly, and nobody contends for it. The built-in worker
// of "rolectl dev" leaves for a program that has taken over its tasks, so its term fails first.
func (f *RoleFacts) Left() bool {
	i := &f.Info
	return i.Vacant && len(i.Candidates)+len(i.Waiting)+len(i.Absent) == 0 &&
		(i.Role == DevMember || slices.Contains(cleanly, i.Reason))
}

// Roles judges whether every role has a leader with heartbeats, and a successor. A role that was
// left cleanly and that nobody contends for is reported, and is not a fault: its record stays in
// the bucket when the role is no longer used. A role that is paused for all is left to Steered.
func (l *List) Roles(bucket string, roles []RoleFacts, members []election.MemberInfo) {
	var led, dev, paused int // dev of the led ones need no successor
	var left []string
	for i := range roles {
		f := &roles[i]
		switch {
		case f.Info.Paused != nil && !f.Led(): // Steered tells
			paused++
		case f.Left():
			left = append(left, fmt.Sprintf("%s (%s, for %s)", f.Info.Role, f.WhyVacant(), wording.Age(f.Age)))
		case l.role(bucket, f, members):
			if led++; !Followed(&f.Info) {
				dev++
			}
		}
	}
	if led == len(roles)-len(left)-paused && (led > 0 || len(left)+paused == 0) {
		l.OK("roles", "%s", allLed(led, dev))
	}
	if len(left) > 0 {
		l.OK("roles", "left cleanly, with no candidates: %s; if a role is still used, start a process that contends for it",
			wording.FirstFew(left))
	}
}

// Unplaced reports roles that nobody leads because all that could take them lead as many as they
// may.
func (l *List) Unplaced(groups []election.SpreadInfo) {
	for _, g := range groups {
		if len(g.Unplaced) > 0 {
			l.Add(Critical, "spread", "raise MaxRoles of the processes, or start another one: rolectl spread --dry-run",
				"nobody has room for %s: each candidate leads as many roles as its MaxRoles allows", wording.FirstFew(g.Unplaced))
		}
	}
}

// allLed says that nothing is wrong with the roles that are used. dev of them have no successor.
func allLed(led, dev int) string {
	all := ", with"
	if led > 1 {
		all = ", all with"
	}
	switch {
	case led == 0:
		return "no role has been claimed here"
	case dev == led:
		return wording.Count(led, "role") + all + " a leader; " + DevMember + " needs no successor"
	case dev > 0:
		return wording.Count(led, "role") + all + " a leader and a successor, but for " + DevMember + ", which needs none"
	}
	return wording.Count(led, "role") + all + " a leader and a successor"
}

// role judges one role. It reports whether the role has a leader and needs no other successor.
func (l *List) role(bucket string, f *RoleFacts, members []election.MemberInfo) bool {
	info := &f.Info
	switch {
	case f.Newer: // removing the record could take the role from a live leader
		l.Add(Warning, "roles", "use a rolectl of that version; older members leave the role alone until they are upgraded",
			"the leader of %s is unknown: a later version wrote its record", info.Role)
	case info.Unreadable:
		l.Add(Critical, "roles",
			"see the check of records above; if nobody claims the role, remove the record: nats kv del "+bucket+" "+
				record.RoleKey(info.Role),
			"nobody leads %s: its record cannot be read", info.Role)
	case f.Waits():
		l.Add(Warning, "roles", "see why no process that takes part leads what it waits for: rolectl inspect "+info.Role,
			"nobody leads %s: %s", info.Role, f.WhyVacant())
	case info.Leader == "" && len(info.Candidates) == 0 && len(info.Absent) > 0:
		level := Critical
		if info.Vacant && info.Reason != protocol.Abandoned {
			level = Warning
		}
		l.Add(level, "roles", backIn(info),
			"nobody has led %s for %s: %s; none of those that take part would lead it now: %s", info.Role,
			wording.Age(f.Age), f.WhyVacant(), Absences(info))
	case info.Vacant && len(info.Candidates) == 0 && info.Reason != protocol.Abandoned:
		l.Add(Warning, "roles",
			"start a process that contends for it; if the role is no longer used, remove it: rolectl roles rm "+info.Role,
			"nobody has contended for %s for %s: %s", info.Role, wording.Age(f.Age), f.WhyVacant())
	case info.Leader == "" && len(info.Candidates) == 0:
		l.Add(Critical, "roles",
			"start a process that contends for it; if the role is no longer used, remove it: rolectl roles rm "+info.Role,
			"nobody has led %s for %s, and it has no candidate", info.Role, wording.Age(f.Age))
	case info.Leader == "" && f.Age > max(2*f.TTL, 5*time.Second):
		l.Add(Critical, "roles", "check the logs of its candidates: rolectl inspect "+info.Role,
			"nobody has led %s for %s: %s", info.Role, wording.Age(f.Age), f.WhyVacant())
	case info.Leader == "":
		l.Add(Warning, "roles", "check again in a moment", "nobody leads %s at the moment: %s", info.Role, f.WhyVacant())
	case f.HeartbeatAge < 0 || f.HeartbeatAge > f.TTL:
		silent := "its lease is gone"
		if f.HeartbeatAge >= 0 {
			silent = "for " + wording.Age(f.HeartbeatAge)
		}
		l.Add(Critical, "roles",
			"check whether "+info.Leader+" is alive, and start another candidate: it takes over when it sees no heartbeat",
			"%s leads %s without a heartbeat: %s (TTL %s)", info.Leader, info.Role, silent, wording.Age(f.TTL))
	case f.HeartbeatLate():
		l.Add(Warning, "roles", "check the load and the network of "+info.Leader,
			"%s leads %s, and its last heartbeat is %s old (TTL %s)", info.Leader, info.Role, wording.Age(f.HeartbeatAge),
			wording.Age(f.TTL))
	case f.Alone(members):
		l.Add(Warning, "roles", "start a second process that contends for it", "nobody would take over %s from %s",
			info.Role, info.Leader)
	default:
		return true
	}
	return false
}

// Alone reports whether the role is led, and nobody would take it over. The built-in worker of
// "rolectl dev" needs no successor.
func (f *RoleFacts) Alone(members []election.MemberInfo) bool {
	return f.Led() && !Followed(&f.Info) &&
		(f.Info.Role != DevMember || programOf(f.Info.Leader, members) != ProgramDev)
}

// Followed reports whether somebody would take a role over from its leader. Of a role that is
// spread nobody can say who. One that waits to lead another role takes over when it does.
func Followed(info *election.RoleInfo) bool {
	return info.Successor != "" || len(info.Waiting) > 0 || info.Spread &&
		slices.ContainsFunc(info.Candidates, func(c election.Candidate) bool { return c.Instance != info.Leader })
}

// programOf returns the program that a member gives in its Meta.
func programOf(instance string, members []election.MemberInfo) string {
	for i := range members {
		if members[i].Instance == instance {
			return members[i].Meta[MetaProgram]
		}
	}
	return ""
}
