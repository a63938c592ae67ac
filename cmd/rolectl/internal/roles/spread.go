package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Spread is the command "rolectl spread".
func Spread(a *cli.App) *cobra.Command {
	var o spreadOptions
	cmd := &cobra.Command{
		Use: "spread [GROUP]", Short: "Show how evenly roles are spread, and make the moves that are due at once",
		Long: `Show how evenly the spread roles of each group are led, and make the moves that are due at once. The group of roles without
a name is "default".

SEATS is how many roles a member leads when all moves are made: its share by CAPACITY, of the roles that it may take, within
MAX. Pinned roles of the group count as load. MOVES are the roles that it has to give away.

The members make these moves by themselves: after two heartbeats of rest, a few at a time, no role twice within its TTL. The
command asks the leaders to make them now, as "rolectl transfer" does. With --dry-run nothing moves.

A role that is unplaced has no leader because all that could take it lead as many roles as they may (MaxRoles).`,
		Example: "  rolectl spread --dry-run\n  rolectl spread orders --yes\n" +
			"  rolectl spread -o json --dry-run | jq '.groups[].moves'",
		Args: cli.CheckArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := inventory.Look(cmd, a, false, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			groups, err := groupsOf(s, a.Bucket, args)
			if err != nil {
				return err
			}
			d := spreadState{Document: show.Of("spread"), Bucket: a.Bucket, DryRun: o.dryRun, Groups: groups, Moved: []string{}}
			if moves := d.moves(); len(moves) > 0 && !o.dryRun {
				if err := a.Confirm(cmd.Context(), o.yes, fmt.Sprintf("Move now: %s?", wording.FirstFew(moves))); err != nil {
					return err
				}
				err = d.move(cmd.Context(), s, o.wait)
			}
			return errors.Join(d.print(a), err)
		},
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask; needed without a terminal")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would move, and move nothing")
	cli.DurationFlag(cmd, &o.wait, "wait", cli.ShortestWait, 30*time.Second, "how long to wait for all moves")
	return cmd
}

type spreadOptions struct {
	yes, dryRun bool
	wait        time.Duration
}

// spreadState is the JSON document of the command.
type spreadState struct {
	show.Document
	Bucket string                `json:"bucket"`
	DryRun bool                  `json:"dry_run"`
	Groups []election.SpreadInfo `json:"groups"`
	Moved  []string              `json:"moved"`
}

// unnamed is the word for the group without a name.
const unnamed = "default"

func nameOf(group string) string {
	if group == "" {
		return unnamed
	}
	return group
}

func groupsOf(s *inventory.View, bucket string, args []string) ([]election.SpreadInfo, error) {
	groups := s.Spread()
	if groups == nil {
		groups = []election.SpreadInfo{}
	}
	if len(args) == 0 {
		return groups, nil
	}
	var names []string
	for _, g := range groups {
		if nameOf(g.Group) == args[0] {
			return []election.SpreadInfo{g}, nil
		}
		names = append(names, nameOf(g.Group))
	}
	if len(names) == 0 {
		return nil, cli.UsageError(fmt.Errorf("no group %q in bucket %s: no process there spreads roles", args[0], bucket))
	}
	return nil, cli.UsageError(fmt.Errorf("no group %q in bucket %s; groups there: %s", args[0], bucket,
		wording.FirstFew(names)))
}

func (d *spreadState) moves() (all []string) {
	for _, g := range d.Groups {
		for _, m := range g.Moves {
			all = append(all, fmt.Sprintf("%s from %s to %s", m.Role, m.From, m.To))
		}
	}
	return all
}

// move asks the leaders to give the roles away, one after the other. One that declines keeps its
// role.
func (d *spreadState) move(ctx context.Context, s *inventory.View, wait time.Duration) (failed error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, g := range d.Groups {
		for _, m := range g.Moves {
			info, ok := s.Role(m.Role)
			if !ok || info.Leader != m.From {
				continue // it has moved, or its leader has gone
			}
			if err := s.Transfer(ctx, m.Role, m.To, info.Epoch); err != nil {
				failed = errors.Join(failed, fmt.Errorf("move %s to %s: %w", m.Role, m.To, err))
				continue
			}
			d.Moved = append(d.Moved, m.Role)
		}
	}
	return failed
}

func (d *spreadState) print(a *cli.App) error {
	t := show.Table{
		Columns: []string{"GROUP", "MEMBER", "LEADS", "SEATS", "CAPACITY", "MAX", "MOVES"},
		Wide:    []string{"PINNED", "BESIDE"}, Names: []string{"GROUP", "MEMBER", "MOVES"},
		Spare: []string{"CAPACITY", "MAX"},
		Empty: "no process in bucket " + d.Bucket + " spreads roles", JSON: d,
	}
	for _, g := range d.Groups {
		for _, m := range g.Members {
			t.Rows = append(t.Rows, d.row(&g, m))
		}
		if len(g.Unplaced) > 0 {
			t.Rows = append(t.Rows, show.Row{
				Name: nameOf(g.Group), Tone: show.Bad,
				Cells: []string{
					nameOf(g.Group), "", "", "", "", "",
					"unplaced: " + wording.FirstFew(g.Unplaced) + ": raise MaxRoles, or start another process",
				},
				Wide: []string{"", ""},
			})
		}
	}
	return a.Printer().Print(t)
}

func (d *spreadState) row(g *election.SpreadInfo, m election.SpreadMember) show.Row {
	var moves []string
	for _, move := range g.Moves {
		switch {
		case move.From != m.Instance:
		case slices.Contains(d.Moved, move.Role):
			moves = append(moves, move.Role+" has moved to "+move.To)
		default:
			moves = append(moves, move.Role+" to "+move.To)
		}
	}
	most := ""
	if m.MaxRoles > 0 {
		most = fmt.Sprint(m.MaxRoles)
	}
	r := show.Row{
		Name: m.Instance, Tone: show.Plain,
		Cells: []string{
			nameOf(g.Group), m.Instance, fmt.Sprint(m.Leads), fmt.Sprint(m.Seats), fmt.Sprint(m.Capacity), most,
			strings.Join(moves, ", "),
		},
		Wide: []string{fmt.Sprint(m.Pinned), fmt.Sprint(m.Beside)},
	}
	if len(moves) > 0 && len(d.Moved) == 0 {
		r.Tone = show.Warning
	}
	return r
}
