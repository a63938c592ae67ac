package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// MemberFacts is what is known about a member.
type MemberFacts struct {
	// Info.LastSeen is the age of the last heartbeat.
	Info election.MemberInfo
	// Leads are the roles that it holds, and Absent those that it takes part in and would not lead.
	Leads  []string
	Absent []Absence
}

// FactsOfMembers are the facts that an Observer or a Session knows about members.
func FactsOfMembers(members []election.MemberInfo, roles []election.RoleInfo) []MemberFacts {
	leads, absent := map[string][]string{}, map[string][]Absence{}
	for i := range roles {
		for _, a := range roles[i].Absent {
			absent[a.Instance] = append(absent[a.Instance], Absence{roles[i].Role, WhyAbsent(&roles[i], a.Instance)})
		}
		if leader := roles[i].Leader; leader != "" {
			leads[leader] = append(leads[leader], roles[i].Role)
		}
	}
	all := make([]MemberFacts, 0, len(members))
	for _, m := range members {
		f := MemberFacts{Info: m}
		if !m.WorkerOnly {
			f.Leads, f.Absent = leads[m.Instance], absent[m.Instance]
		}
		all = append(all, f)
	}
	return all
}

// State is active, idle, draining or silent.
func (f *MemberFacts) State() string {
	switch {
	case f.Info.LastSeen > f.Info.TTL:
		return "silent"
	case f.Info.Draining:
		return "draining"
	case f.Info.Idle:
		return "idle"
	}
	return "active"
}

// Members judges whether every member still renews its lease, and runs the version of the others.
func (l *List) Members(members []MemberFacts) {
	l.versions(members)
	silent := 0
	for i := range members {
		f := &members[i]
		m := &f.Info
		if m.LastSeen > 2*m.TTL && len(f.Leads) == 0 {
			silent++
			l.Add(Warning, "members",
				"check whether the process is alive; another candidate removes the record when it sees no heartbeat",
				"%s has not renewed its lease for %s (TTL %s)", m.Instance, wording.Age(m.LastSeen), wording.Age(m.TTL))
		}
		if m.Draining && m.LastSeen <= m.TTL && len(f.Leads) > 0 {
			l.Add(Warning, "members",
				"find out why its work does not return; step-down --force takes the role without waiting for it",
				"%s is closing, and still holds %s", m.Instance, strings.Join(f.Leads, ", "))
		}
	}
	if silent == 0 {
		l.OK("members", "%s, all with heartbeats", wording.Count(len(members), "member"))
	}
}

// versions judges whether all members of one program run the same version, as far as they give it
// in Meta. The records do not hold the version of the library.
func (l *List) versions(members []MemberFacts) {
	type key struct{ program, version string }
	running := map[key][]string{}
	programs := map[string][]string{} // their versions
	silent := 0
	for i := range members {
		m := &members[i].Info
		k := key{m.Meta[MetaProgram], m.Meta[MetaVersion]}
		if k.version == "" {
			silent++
			continue
		}
		if len(running[k]) == 0 {
			programs[k.program] = append(programs[k.program], k.version)
		}
		running[k] = append(running[k], m.Instance)
	}
	drift := false
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		if len(programs[program]) < 2 {
			continue
		}
		drift = true
		var parts []string
		for _, v := range slices.Sorted(slices.Values(programs[program])) {
			parts = append(parts, fmt.Sprintf("%s: %s", v, wording.FirstFew(running[key{program, v}])))
		}
		of := ""
		if program != "" {
			of = " of " + program
		}
		l.Add(Warning, "versions", "finish the upgrade", "members run different versions%s (%s)", of,
			strings.Join(parts, "; "))
	}
	switch {
	case drift || len(members) == 0:
	case silent == len(members):
		l.OK("versions", "not checked: no member gives its %s in Meta", MetaVersion)
	case silent > 0:
		l.OK("versions", "one for each program, of the %s with a version", wording.Count(len(members)-silent, "member"))
	default:
		l.OK("versions", "one for each program")
	}
}
