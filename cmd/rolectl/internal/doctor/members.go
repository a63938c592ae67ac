package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// records checks that all records of the bucket can be read.
func (x *examination) records() {
	bad := 0
	for _, r := range x.s.All() {
		if r.Kind == record.KindOther {
			continue
		}
		switch r.Form {
		case record.FormGarbage:
			x.add(warning, "records",
				"find out which program writes there (nats kv get "+x.a.Bucket+" "+show.Clean(r.Key)+
					"); members overwrite the record after a while",
				"%s cannot be read: %s", r.Key, r.Problem)
		case record.FormNewer:
			x.add(warning, "records", "upgrade the older members, and this program", "%s was written by a later version", r.Key)
		default:
			continue
		}
		if bad++; bad == 20 {
			x.add(warning, "records", "fix the records above first", "there are more records that cannot be read")
			return
		}
	}
	if bad == 0 {
		x.ok("records", "all can be read")
	}
}

// members checks that every member still renews its lease.
func (x *examination) members() {
	docs := x.s.DescribeMembers()
	x.versions(docs)
	silent := 0
	for _, m := range docs {
		if m.HeartbeatAge > 2*m.TTL && len(m.Leads) == 0 {
			silent++
			x.add(warning, "members",
				"check whether the process is alive; another candidate removes the record when it sees no heartbeat",
				"%s has not renewed its lease for %s (TTL %s)", m.Instance, show.Age(m.HeartbeatAge), show.Age(m.TTL))
		}
		if m.Draining && m.HeartbeatAge <= m.TTL && len(m.Leads) > 0 {
			x.add(warning, "members",
				"find out why its work does not return; step-down --force takes the role without waiting for it",
				"%s is closing, and still holds %s", m.Instance, strings.Join(m.Leads, ", "))
		}
	}
	if silent == 0 {
		x.ok("members", "%s, all with heartbeats", show.Count(len(docs), "member"))
	}
}

// versions checks that all members of one program run the same version, as far as they give it in
// Meta. The records do not hold the version of the library.
func (x *examination) versions(docs []inventory.MemberState) {
	type key struct{ program, version string }
	members := map[key][]string{}
	programs := map[string][]string{} // their versions
	silent := 0
	for _, m := range docs {
		k := key{m.Meta[inventory.MetaProgram], m.Meta[inventory.MetaVersion]}
		if k.version == "" {
			silent++
			continue
		}
		if len(members[k]) == 0 {
			programs[k.program] = append(programs[k.program], k.version)
		}
		members[k] = append(members[k], m.Instance)
	}
	drift := false
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		if len(programs[program]) < 2 {
			continue
		}
		drift = true
		var parts []string
		for _, v := range slices.Sorted(slices.Values(programs[program])) {
			parts = append(parts, fmt.Sprintf("%s: %s", v, show.FirstFew(members[key{program, v}])))
		}
		of := ""
		if program != "" {
			of = " of " + program
		}
		x.add(warning, "versions", "finish the upgrade", "members run different versions%s (%s)", of,
			strings.Join(parts, "; "))
	}
	switch {
	case drift || len(docs) == 0:
	case silent == len(docs):
		x.ok("versions", "not checked: no member gives its %s in Meta", inventory.MetaVersion)
	case silent > 0:
		x.ok("versions", "one for each program, of the %s with a version", show.Count(len(docs)-silent, "member"))
	default:
		x.ok("versions", "one for each program")
	}
}
