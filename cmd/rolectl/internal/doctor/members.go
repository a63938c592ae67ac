package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// records checks that what stands in the bucket can be read.
func (x *examination) records() {
	bad := 0
	for _, r := range x.s.All() {
		if r.Kind == protocol.KindOther {
			continue
		}
		switch r.Form {
		case protocol.FormGarbage:
			x.add(warning, "records", "find out who writes there (nats kv get "+x.a.Bucket+" "+show.Clean(r.Key)+"); members write over it when it has stood for a while",
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
	docs := x.s.DescribeMembers()
	x.versions(docs)
	silent := 0
	for _, m := range docs {
		if m.HeartbeatAge > 2*m.TTL && len(m.Leads) == 0 {
			silent++
			x.add(warning, "members", "see whether the process lives; the record goes when another candidate has seen it stand still",
				"%s has not renewed its lease for %s (TTL %s)", m.Instance, show.Age(m.HeartbeatAge), show.Age(m.TTL))
		}
		if m.Draining && m.HeartbeatAge <= m.TTL && len(m.Leads) > 0 {
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
func (x *examination) versions(docs []inventory.MemberState) {
	type key struct{ program, version string }
	who := map[key][]string{}
	programs := map[string][]string{} // their versions
	silent := 0
	for _, m := range docs {
		k := key{m.Meta[inventory.MetaProgram], m.Meta[inventory.MetaVersion]}
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
			parts = append(parts, fmt.Sprintf("%s: %s", v, show.FirstFew(who[key{program, v}])))
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
		x.ok("versions", "not looked at: no member says in Meta which %s it runs", inventory.MetaVersion)
	case silent > 0:
		x.ok("versions", "one for each program, of the %d members that say theirs", len(docs)-silent)
	default:
		x.ok("versions", "one for each program")
	}
}
