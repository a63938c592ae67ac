package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// records checks that what stands in the bucket can be read.
func (x *examination) records() {
	bad := 0
	for _, r := range x.s.all() {
		if r.Kind == protocol.KindOther {
			continue
		}
		switch r.Form {
		case protocol.FormGarbage:
			x.add(warning, "records", "find out who writes there (nats kv get "+x.a.bucket+" "+show.Clean(r.Key)+"); members write over it when it has stood for a while",
				"%s cannot be read: %s", r.Key, r.Problem)
		case protocol.FormNewer:
			x.add(warning, "records", "upgrade the members that are older, this program too", "%s was written by a later version", r.Key)
		default:
			continue
		}
		if bad++; bad == 20 {
			x.add(warning, "records", "mend those above first", "there are more that cannot be read")
			return
		}
	}
	if bad == 0 {
		x.ok("records", "all can be read")
	}
}

// members checks that who has a session still moves its lease.
func (x *examination) members() {
	docs := x.s.members()
	x.versions(docs)
	silent := 0
	for _, m := range docs {
		if m.beat > 2*m.ttl && len(m.Leads) == 0 {
			silent++
			x.add(warning, "members", "see whether the process lives; the record goes when another candidate has seen it stand still",
				"%s has not renewed its lease for %s (TTL %s)", m.Instance, show.Age(m.beat), show.Age(m.ttl))
		}
		if m.Draining && m.beat <= m.ttl && len(m.Leads) > 0 {
			x.add(warning, "members", "see why its work does not return; step-down --force takes the role without waiting for it",
				"%s is closing, and still holds %s", m.Instance, strings.Join(m.Leads, ", "))
		}
	}
	if silent == 0 {
		x.ok("members", "%d, all with heartbeats", len(docs))
	}
}

// versions checks that members of one program run one version, as far as they say so in Meta: the library's records have
// no place for its own.
func (x *examination) versions(docs []memberDoc) {
	type key struct{ program, version string }
	who := map[key][]string{}
	programs := map[string][]string{} // their versions
	silent := 0
	for _, m := range docs {
		k := key{m.Meta[metaProgram], m.Meta[metaVersion]}
		if k.version == "" {
			silent++
			continue
		}
		if len(who[k]) == 0 {
			programs[k.program] = append(programs[k.program], k.version)
		}
		who[k] = append(who[k], m.Instance)
	}
	drift := false
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		if len(programs[program]) < 2 {
			continue
		}
		drift = true
		var parts []string
		for _, v := range slices.Sorted(slices.Values(programs[program])) {
			parts = append(parts, fmt.Sprintf("%s: %s", v, some(who[key{program, v}])))
		}
		of := ""
		if program != "" {
			of = " of " + program
		}
		x.add(warning, "versions", "finish the upgrade", "members run different versions%s (%s)", of, strings.Join(parts, "; "))
	}
	switch {
	case drift || len(docs) == 0:
	case silent == len(docs):
		x.ok("versions", "not looked at: no member says in Meta which %s it runs", metaVersion)
	case silent > 0:
		x.ok("versions", "one for each program, of the %d members that say theirs", len(docs)-silent)
	default:
		x.ok("versions", "one for each program")
	}
}

// What members say of themselves in their Meta, where they do.
const (
	metaProgram = "program"
	metaVersion = "version"

	programDev = "rolectl dev"
)

// inOrder are the causes that end a role's use when nobody else wants it: a command that ran once, a service that was taken down.
var inOrder = []string{
	protocol.WorkReturned.String(), protocol.SessionClosed.String(), protocol.SteppedDown.String(), protocol.Transferred.String(),
	protocol.Outranked.String(),
}

// roles checks that every role has a leader that beats, and somebody to take over. A role that was left in order and that nobody
// contends for is told, and is not wrong: its record stays behind when it is no longer used.
func (x *examination) roles() {
	docs, _ := x.s.roles() // without names there is no error
	led := 0
	var left []string
	for _, d := range docs {
		switch {
		case d.Vacant && len(d.Candidates) == 0 && slices.Contains(inOrder, d.Reason):
			left = append(left, fmt.Sprintf("%s (%s, for %s)", d.Role, d.why(), show.Age(d.age)))
		case d.newer: // it may well be led: to remove the record would take it from a leader that lives
			x.add(warning, "roles", "ask with a rolectl of that version; older members leave the role alone until they are upgraded",
				"whether anybody leads %s cannot be told: a later version wrote its record", d.Role)
		case d.Unreadable:
			x.add(critical, "roles", "see records above; if nobody claims it, remove the record: nats kv del "+x.a.bucket+" "+protocol.RoleKey(d.Role),
				"nobody leads %s: its record cannot be read", d.Role)
		case d.Vacant && len(d.Candidates) == 0:
			x.add(warning, "roles", "start a process that contends for it; if it is no longer used, remove its record: nats kv del "+x.a.bucket+" "+protocol.RoleKey(d.Role),
				"nobody contends for %s any more, since %s: %s", d.Role, show.Age(d.age), d.why())
		case d.Leader == "" && len(d.Candidates) == 0:
			x.add(critical, "roles", "start a process that contends for it", "nobody leads %s and nobody is a candidate, for %s", d.Role, show.Age(d.age))
		case d.Leader == "" && d.age > max(2*d.ttl, 5*time.Second):
			x.add(critical, "roles", "see what its candidates log: rolectl inspect "+d.Role, "nobody leads %s, for %s: %s", d.Role, show.Age(d.age), d.why())
		case d.Leader == "":
			x.add(warning, "roles", "look again in a moment", "nobody leads %s just now: %s", d.Role, d.why())
		case d.beat < 0 || d.beat > d.ttl:
			silent := "its last one is gone"
			if d.beat >= 0 {
				silent = "for " + show.Age(d.beat)
			}
			x.add(critical, "roles", "see whether "+d.Leader+" lives, and start another candidate: who sees its lease stand still takes over",
				"%s leads %s without a heartbeat: %s (TTL %s)", d.Leader, d.Role, silent, show.Age(d.ttl))
		case d.late():
			x.add(warning, "roles", "see the load and the network of "+d.Leader, "%s leads %s, and its last heartbeat is %s old (TTL %s)", d.Leader, d.Role, show.Age(d.beat), show.Age(d.ttl))
		case d.Successor == "" && d.Role == devMember && x.programOf(d.Leader) == programDev: // it is alone by design
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
		x.ok("roles", "left in order, and nobody contends for them: %s; if one is still used, start a process that does", some(left))
	}
}

// programOf is what a member says it runs.
func (x *examination) programOf(instance string) string {
	for _, m := range x.s.Members() {
		if m.Instance == instance {
			return m.Meta[metaProgram]
		}
	}
	return ""
}

const (
	// recently is how far back killed sessions count; their records stay for a day.
	recently = time.Hour
	// manyKilled is from how many on they are more than a machine that went down.
	manyKilled = 3
	// manyWrites to one role while the doctor watches: one hand-over takes two.
	manyWrites = 3
)

// churn looks for roles and sessions that come and go.
func (x *examination) churn(watchFor time.Duration) {
	var killed []string
	for _, r := range x.s.all() {
		if r.Kind == protocol.KindLease && r.Form == protocol.FormRecord && r.Lease.State == protocol.Killed && x.s.age(r) < recently {
			killed = append(killed, r.Peer.Instance)
		}
	}
	slices.Sort(killed)
	writes := x.seen.writes()
	calm := true
	if len(killed) >= manyKilled {
		calm = false
		x.add(warning, "churn", "see whether these processes crash, pause or lose their connection; if they live, raise their TTL",
			"%d sessions were ended by others within the last hour: %s", len(killed), some(killed))
	}
	for _, role := range slices.Sorted(maps.Keys(writes)) {
		if writes[role] >= manyWrites {
			calm = false
			x.add(warning, "churn", "see why its work returns or fails: rolectl inspect "+role+" --for 30s", "%s has changed hands again and again: %d writes within %s", role, writes[role], watchFor)
		}
	}
	if calm {
		x.ok("churn", "%d sessions were ended by others within the last hour; no role changed hands again and again", len(killed))
	}
}

// some names the first few.
func some(names []string) string {
	const few = 8
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
