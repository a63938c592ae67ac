package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func roles(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "roles [ROLE...]", Aliases: []string{"role", "ls"}, Short: "Show who leads each role, and who would be next",
		Long: `Show who leads each role, and who would be next.

AGE is how long the term has lasted (or, of a role that nobody leads, how long its record stands so), HEARTBEAT how long ago
the leader last renewed its lease: about a fifth of TTL at most, when all is well. PRIORITY is the leader's; CANDIDATES is how
many processes contend for the role, the leader among them. -o wide names them, and says why nobody leads.`,
		Example:           "  rolectl roles\n  rolectl roles scheduler -o json | jq -r '.roles[0].leader'\n  rolectl roles -o name",
		Args:              takes,
		ValidArgsFunction: a.completeRoles(-1),
		RunE: func(cmd *cobra.Command, names []string) error {
			ctx, cancel, _, err := a.asking(cmd)
			if err != nil {
				return err
			}
			defer cancel()
			s, err := a.look(ctx, false, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			docs, err := s.roles(names...)
			if err != nil {
				return err
			}
			return a.printer().Print(roleTable(a.bucket, docs))
		},
	}
}

func roleTable(bucket string, docs []roleDoc) show.Table {
	t := show.Table{
		Columns: []string{"ROLE", "LEADER", "EPOCH", "AGE", "HEARTBEAT", "TTL", "PRIORITY", "SUCCESSOR", "CANDIDATES"},
		Wide:    []string{"IN LINE", "SESSION", "REASON"},
		Empty:   "no roles in bucket " + bucket + ": nobody has taken part in any yet",
		JSON: struct {
			show.Document
			Bucket string    `json:"bucket"`
			Roles  []roleDoc `json:"roles"`
		}{show.Of("roles"), bucket, docs},
	}
	for _, d := range docs {
		t.Rows = append(t.Rows, d.row())
	}
	return t
}

func (d roleDoc) row() show.Row {
	r := show.Row{Name: d.Role, Tone: show.Plain}
	epoch, session, priority, ttl := "", "", "", ""
	if d.Leader != "" {
		epoch, session, priority = fmt.Sprint(d.Epoch), fmt.Sprint(d.Session), fmt.Sprint(d.Priority)
	} else {
		r.Tone = show.Bad
	}
	if d.ttl > 0 {
		ttl = show.Age(d.ttl)
	}
	if d.Leader != "" && d.late() {
		r.Tone = show.Warning
	}
	r.Cells = []string{d.Role, d.Leader, epoch, show.Age(d.age), show.Age(d.beat), ttl, priority, d.Successor, fmt.Sprint(len(d.Candidates))}
	r.Wide = []string{some(d.line()), session, d.why()}
	return r
}

// line is who would take the role, in this order.
func (d roleDoc) line() []string {
	var names []string
	for _, c := range d.Candidates {
		if c.Instance != d.Leader {
			names = append(names, c.Instance)
		}
	}
	return names
}

// late reports whether the leader has missed more than one heartbeat, as far as its TTL tells: a fifth of it by default.
func (d roleDoc) late() bool { return d.beat > d.ttl/2 }

// why says in short why nobody leads, if so.
func (d roleDoc) why() string {
	switch {
	case d.newer:
		return "not known: a later version wrote its record"
	case d.Unreadable:
		return "record cannot be read"
	case d.Leader != "":
		return ""
	case d.Vacant && d.By != "":
		return d.Reason + " (" + d.By + ")"
	case d.Vacant:
		return d.Reason
	}
	return "its leader's session is over"
}
