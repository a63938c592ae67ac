package roles

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func List(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "roles [ROLE...]", Aliases: []string{"role", "ls"}, Short: "Show who leads each role, and who would be next",
		Long: `Show who leads each role, and who would be next.

AGE is how long the term has lasted (or, of a role that nobody leads, how long its record stands so), HEARTBEAT how long ago
the leader last renewed its lease: about a fifth of TTL at most, when all is well. PRIORITY is the leader's; CANDIDATES is how
many processes contend for the role, the leader among them. -o wide names them, and says why nobody leads.`,
		Example:           "  rolectl roles\n  rolectl roles scheduler -o json | jq -r '.roles[0].leader'\n  rolectl roles -o name",
		Args:              cli.CheckArgs,
		ValidArgsFunction: inventory.CompleteRoles(a, -1),
		RunE: func(cmd *cobra.Command, names []string) error {
			ctx, cancel, _, err := a.ConnectFor(cmd)
			if err != nil {
				return err
			}
			defer cancel()
			s, err := inventory.OpenView(ctx, a, false, nil)
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
}

func roleTable(bucket string, docs []inventory.RoleState) show.Table {
	t := show.Table{
		Columns: []string{"ROLE", "LEADER", "EPOCH", "AGE", "HEARTBEAT", "TTL", "PRIORITY", "SUCCESSOR", "CANDIDATES"},
		Wide:    []string{"IN LINE", "SESSION", "REASON"},
		Empty:   "no roles in bucket " + bucket + ": nobody has taken part in any yet",
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
	} else {
		r.Tone = show.Bad
	}
	if d.TTL > 0 {
		ttl = show.Age(d.TTL)
	}
	if d.Leader != "" && d.HeartbeatLate() {
		r.Tone = show.Warning
	}
	r.Cells = []string{d.Role, d.Leader, epoch, show.Age(d.Age), show.Age(d.HeartbeatAge), ttl, priority, d.Successor, fmt.Sprint(len(d.Candidates))}
	r.Wide = []string{show.FirstFew(d.InLine()), session, d.WhyVacant()}
	return r
}
