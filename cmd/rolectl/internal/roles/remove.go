package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// removal is the JSON document of rolectl roles rm.
type removal struct {
	show.Document
	Bucket  string   `json:"bucket"`
	Removed []string `json:"removed"` // with --dry-run: what would be removed
	// Ended are those of them whose record names a leader, and why that leads nothing.
	Ended  []endedRole `json:"ended,omitempty"`
	Kept   []keptRole  `json:"kept"`
	DryRun bool        `json:"dry_run"`
}

type endedRole struct {
	Role    string `json:"role"`
	Message string `json:"message"`
}

type keptRole struct {
	Role    string `json:"role"`
	Reason  string `json:"reason"`
	By      string `json:"by,omitempty"`
	Message string `json:"message"`
}

// Remove is the command "rolectl roles rm".
func Remove(a *cli.App) *cobra.Command {
	var yes, dryRun bool
	var vacantFor time.Duration
	cmd := &cobra.Command{
		Use: "rm [ROLE...]", Short: "Remove roles that nobody leads and nobody wants",
		Long: `Remove the records of roles that nobody leads and nobody wants. Such a record leaves by itself a day after the last term.

A role is kept if somebody leads it, if it was taken by force, if it was given up less than the longest TTL of the bucket ago,
or if a live member takes part in it. If one of the named roles is kept, none is removed. A process that wants a removed role
later claims it without a wait, at a higher epoch.

A role of a crashed process stays where no member may write its record. It is removed when the session of that process has
ended, or its lease has expired for the longest TTL of the bucket: REASON says which. A process that wants it soon after
waits for a TTL.

--vacant-for takes every role that nobody has led for that long, and leaves out those that are kept. It knows since when
of a dead session that was ended a moment ago; name the others. --dry-run removes nothing, and shows what would be removed.`,
		Example: "  rolectl roles rm tenant-7\n  rolectl roles rm --vacant-for 1h --dry-run\n" +
			"  rolectl roles rm --vacant-for 1h --yes",
		Args: cli.CheckArgs, ValidArgsFunction: inventory.CompleteRoles(a, -1),
		RunE: func(cmd *cobra.Command, names []string) error {
			if bulk := cmd.Flags().Changed("vacant-for"); bulk == (len(names) > 0) {
				return cli.UsageError(errors.New("name the roles, or give --vacant-for, and not both"))
			}
			s, err := inventory.Look(cmd, a, false, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			d := removal{
				Document: show.Of("removal"), Bucket: a.Bucket, Removed: []string{}, Kept: []keptRole{}, DryRun: dryRun,
			}
			if err := d.choose(s, names, vacantFor); err != nil {
				return err
			}
			if !dryRun && len(d.Removed) > 0 {
				question := fmt.Sprintf("Remove %s of bucket %s: %s?", wording.Count(len(d.Removed), "role"), a.Bucket,
					wording.FirstFew(d.Removed))
				if err := a.Confirm(cmd.Context(), yes, question); err != nil {
					return err
				}
				err = d.remove(cmd.Context(), a, s)
			}
			if failed := d.print(a); failed != nil {
				return failed
			}
			return err
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask; needed without a terminal")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "remove nothing; show what would be removed")
	cli.DurationFlag(cmd, &vacantFor, "vacant-for", cli.ShortestWait, 0, "every role that nobody has led for that long")
	return cmd
}

// choose decides which roles are to be removed: those that are named, all of them or none, or else
// those that are vacant for so long.
func (d *removal) choose(s *inventory.View, names []string, vacantFor time.Duration) error {
	all, err := s.DescribeRoles(names...)
	if err != nil {
		return err
	}
	var kept error
	for _, r := range all {
		if len(names) == 0 && (!r.Vacant && r.State != election.RoleDead || r.Age < vacantFor) {
			continue
		}
		if _, err := s.Removable(r.Role); err != nil {
			kept = errors.Join(kept, err)
			d.keep(err)
			continue
		}
		d.Removed = append(d.Removed, r.Role)
		if why := whyEnded(r); why != "" {
			d.Ended = append(d.Ended, endedRole{r.Role, why})
		}
	}
	if len(names) > 0 && kept != nil {
		return cli.ExitWith(cli.ExitFailed, kept)
	}
	return nil
}

// whyEnded says why the leader that the record of a removable role names leads nothing; "" if it
// names none.
func whyEnded(r inventory.RoleState) string {
	switch {
	case r.Vacant:
		return ""
	case r.State == election.RoleDead:
		return "the session of its leader ended " + wording.Age(r.Age) + " ago"
	}
	return "the lease of " + r.Leader + " has expired"
}

func (d *removal) keep(err error) {
	if k := (*election.RoleKeptError)(nil); errors.As(err, &k) {
		d.Kept = append(d.Kept, keptRole{k.Role, string(k.Reason), k.By, wording.Plain(k)})
	}
}

func (d *removal) remove(ctx context.Context, a *cli.App, s *inventory.View) (failed error) {
	ctx, cancel := context.WithTimeout(ctx, a.Target.Timeout)
	defer cancel()
	chosen := d.Removed
	d.Removed = []string{}
	for _, role := range chosen {
		switch err := s.Remove(ctx, role); {
		case err == nil:
			d.Removed = append(d.Removed, role)
		case errors.Is(err, election.ErrRoleKept):
			d.keep(err)
			failed = errors.Join(failed, err)
		default:
			return errors.Join(failed, fmt.Errorf("remove %s: %w", role, err))
		}
	}
	if failed != nil {
		return cli.ExitWith(cli.ExitFailed, failed)
	}
	return nil
}

func (d *removal) print(a *cli.App) error {
	t := show.Table{
		Columns: []string{"ROLE", "REMOVED", "REASON"}, Names: []string{"ROLE"}, JSON: d, Empty: "no role is removed",
	}
	done := "yes"
	if d.DryRun {
		done = "would be"
	}
	for _, role := range d.Removed {
		reason := ""
		if i := slices.IndexFunc(d.Ended, func(e endedRole) bool { return e.Role == role }); i >= 0 {
			reason = d.Ended[i].Message
		}
		t.Rows = append(t.Rows, show.Row{Name: role, Cells: []string{role, done, reason}})
	}
	for _, k := range d.Kept {
		reason := k.Reason
		if k.By != "" {
			reason += " (" + k.By + ")"
		}
		t.Rows = append(t.Rows, show.Row{Name: k.Role, Cells: []string{k.Role, "no", reason}})
	}
	return a.Printer().Print(t)
}
