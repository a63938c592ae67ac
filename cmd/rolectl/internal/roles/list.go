package roles

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// List is the command "rolectl roles".
func List(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "roles [ROLE...]", Aliases: []string{"role", "ls"}, Short: "Show who leads each role, and who is next in line",
		Long: `Show who leads each role, and who is next in line.

STATE is leading, or why nobody leads: silent (no heartbeat of the leader within its TTL), dead (its session has ended),
vacant, paused (for all, see -o wide) or unreadable. AGE is the age of the term; for a role without a leader it is the
age of its record. HEARTBEAT is the time since the leader last renewed its lease: normally at most a fifth of TTL.
PRIORITY is the priority of the leader. CANDIDATES counts the processes that contend for the role, including the leader.
-o wide names the candidates, and shows why nobody leads. A narrow terminal leaves columns out; -o wide shows all.`,
		Example: "  rolectl roles\n  rolectl roles scheduler -o json | jq -r '.roles[0].leader'\n" +
			"  rolectl roles -o name",
		Args:              cli.CheckArgs,
		ValidArgsFunction: inventory.CompleteRoles(a, -1),
		RunE: func(cmd *cobra.Command, names []string) error {
			s, err := inventory.Look(cmd, a, false, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			docs, err := s.DescribeRoles(names...)
			if err != nil {
				return err
			}
			return a.Printer().Print(roleTable(a.Bucket, docs))
		},
	}
	cmd.AddCommand(Remove(a), PauseAll(a), ResumeAll(a))
	return cmd
}

func roleTable(bucket string, docs []inventory.RoleState) show.Table {
	t := show.Table{
		Columns: []string{
			"ROLE", "STATE", "LEADER", "EPOCH", "AGE", "HEARTBEAT", "TTL", "PRIORITY", "SUCCESSOR",
			"CANDIDATES",
		},
		Wide:  []string{"IN LINE", "SESSION", "REASON", "NOT IN LINE"},
		Names: []string{"ROLE", "LEADER", "SUCCESSOR"}, Spare: []string{"PRIORITY", "TTL", "EPOCH", "CANDIDATES"},
		Empty: "bucket " + bucket + " has no roles yet",
		JSON: struct {
			show.Document
			Bucket string                `json:"bucket"`
			Roles  []inventory.RoleState `json:"roles"`
		}{show.Of("roles"), bucket, docs},
	}
	for _, d := range docs {
		t.Rows = append(t.Rows, roleRow(d))
	}
	return t
}

func roleRow(d inventory.RoleState) show.Row {
	r := show.Row{Name: d.Role, Tone: show.Plain}
	epoch, session, priority, ttl := "", "", "", ""
	if d.Leader != "" {
		epoch, session, priority = fmt.Sprint(d.Epoch), fmt.Sprint(d.Session), fmt.Sprint(d.Priority)
	}
	if d.TTL > 0 {
		ttl = wording.Age(d.TTL)
	}
	switch {
	case d.Left(): // as the doctor sees it
	case !d.Led():
		r.Tone = show.Bad
	case d.HeartbeatLate():
		r.Tone = show.Warning
	}
	state := d.RoleFacts.State()
	if state == "paused" {
		r.Tone = show.Warning
	}
	r.Cells = []string{
		d.Role, state, d.Leader, epoch, wording.Age(d.Age), wording.Age(d.HeartbeatAge), ttl, priority, d.Successor,
		fmt.Sprint(len(d.Candidates)),
	}
	r.Wide = []string{wording.FirstFew(d.InLine()), session, d.WhyVacant(), findings.Absences(&d.Info)}
	return r
}
