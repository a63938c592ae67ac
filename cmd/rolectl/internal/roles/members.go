package roles

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Members is the command "rolectl members".
func Members(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "members", Aliases: []string{"member"}, Short: "Show the processes that have a session, including workers",
		Example: "  rolectl members\n  rolectl members -o wide\n  rolectl members -o json | jq '.members[] | " +
			"select(.draining)'",
		Args: cli.CheckArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := inventory.Look(cmd, a, true, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			return a.Printer().Print(memberTable(a.Bucket, s.DescribeMembers()))
		},
	}
}

func memberTable(bucket string, docs []inventory.MemberState) show.Table {
	t := show.Table{
		Columns: []string{"INSTANCE", "STATE", "ZONE", "LEADS", "HEARTBEAT", "TTL", "ROLES"},
		Wide:    []string{"SESSION", "TASKS", "META"},
		Names:   []string{"INSTANCE", "ZONE", "LEADS", "ROLES"}, Spare: []string{"TTL", "ROLES", "ZONE"},
		Empty: "no members in bucket " + bucket,
		JSON: struct {
			show.Document
			Bucket  string                  `json:"bucket"`
			Members []inventory.MemberState `json:"members"`
		}{show.Of("members"), bucket, docs},
	}
	for _, d := range docs {
		tone := show.Plain
		if d.State == "silent" {
			tone = show.Bad
		}
		part := rolesOf(d)
		if d.WorkerOnly {
			part = "worker only"
		}
		zone := d.Zone
		if d.Drained != nil {
			zone += " (drained)"
		}
		t.Rows = append(t.Rows, show.Row{
			Name: d.Instance, Tone: tone,
			Cells: []string{
				d.Instance, d.State, zone, strings.Join(d.Leads, ","), wording.Age(d.HeartbeatAge), wording.Age(d.TTL), part,
			},
			Wide: []string{fmt.Sprint(d.Session), slotsOf(d), show.Pairs(d.Meta)},
		})
	}
	return t
}

// rolesOf lists the roles that a member takes part in, and says of which it would not lead now, and
// why.
func rolesOf(d inventory.MemberState) string {
	why := map[string]string{}
	for _, a := range d.Absent {
		why[a.Role] = " (" + a.Why + ")"
	}
	all := make([]string, 0, len(d.Roles))
	for _, role := range d.Roles {
		all = append(all, role+why[role])
	}
	return strings.Join(all, ",")
}

// slotsOf lists the namespaces that a member works in, with its slots there.
func slotsOf(d inventory.MemberState) string {
	var all []string
	for _, ns := range slices.Sorted(maps.Keys(d.Assign)) {
		all = append(all, fmt.Sprintf("%s:%d", ns, d.Assign[ns].Slots))
	}
	return strings.Join(all, ",")
}
