package roles

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
)

// Zone is the command "rolectl zone".
func Zone(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "zone", Short: "Empty a zone of leaders, and let it lead again", RunE: cli.ShowHelp, Args: cli.CheckArgs,
		Long: `Empty a zone, such as a data centre, of leaders, and let it lead again. A process says by Zone, or ROLES_ZONE,
where it is.`,
	}
	cmd.AddCommand(drainZone(a), undrainZone(a))
	return cmd
}

func drainZone(a *cli.App) *cobra.Command {
	var s election.Steering
	var yes, wait, force bool
	cmd := &cobra.Command{
		Use: "drain ZONE", Short: "Have the leaders of a zone hand over, and keep others there from leading",
		Args: cli.CheckArgs,
		Long: `Have the leaders of a zone hand their roles over to processes elsewhere, one after the other. Processes that start
there later do not lead either. A role that nobody elsewhere can lead stays, unless --hard is given or the role has ZonesOnly.`,
		Example: "  rolectl zone drain dc1 --reason 'power works' --for 2h --wait --yes\n  rolectl zone drain dc1",
		RunE: func(cmd *cobra.Command, args []string) error {
			return steering(cmd, a, func(ctx context.Context, v *inventory.View) error {
				if err := checkZone(v, args[0], force); err != nil {
					return err
				}
				question := fmt.Sprintf("Have all leaders in zone %s hand over?", args[0])
				if s.Hard {
					question = fmt.Sprintf("Have nobody lead in zone %s, even if nobody else can?", args[0])
				}
				if err := a.Confirm(ctx, yes, question); err != nil {
					return err
				}
				if err := v.DrainZone(ctx, args[0], s); err != nil {
					return err
				}
				if wait {
					if err := untilEmpty(ctx, v, args[0]); err != nil {
						return err
					}
				}
				return printSteering(a, "drain", "zone", args[0], "zone "+args[0]+" is drained")
			})
		},
	}
	steeringFlags(cmd, &s, &yes)
	cmd.Flags().BoolVar(&force, "force", false, "also a zone in which no process is now")
	cmd.Flags().BoolVar(&s.Hard, "hard", false, "also from roles that nobody elsewhere can lead")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until no role is led there that others could lead")
	return cmd
}

func undrainZone(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "undrain ZONE", Short: "Let the processes of a zone lead again", Args: cli.CheckArgs,
		Long:    `Let the processes of a zone lead again. A role returns by itself only if it has FailBackAfter.`,
		Example: "  rolectl zone undrain dc1",
		RunE: func(cmd *cobra.Command, args []string) error {
			return steering(cmd, a, func(ctx context.Context, v *inventory.View) error {
				was, all, err := checkSteered(v, args[0], func(s election.Steered) string { return s.Zone }, checkZone)
				if err != nil {
					return err
				}
				if err := v.UndrainZone(ctx, args[0]); err != nil {
					return err
				}
				done := "zone " + args[0] + " may lead"
				if !was {
					done = "zone " + notSteered("zone", args[0], "drained", all)
				}
				return printSteering(a, "undrain", "zone", args[0], done)
			})
		},
	}
}

// PauseAll is the command "rolectl roles pause".
func PauseAll(a *cli.App) *cobra.Command {
	var s election.Steering
	var yes, force bool
	cmd := &cobra.Command{
		Use: "pause ROLE", Short: "Have nobody lead a role", Args: cli.CheckArgs,
		ValidArgsFunction: inventory.CompleteRoles(a, 1),
		Long: `Have nobody lead a role. Its leader drains its work and gives the role up. That is kept in the bucket, so processes that
start later do not lead it either. "rolectl pause" keeps one process from it.`,
		Example: "  rolectl roles pause scheduler --reason 'migration' --for 1h --yes\n  rolectl roles pause scheduler",
		RunE: func(cmd *cobra.Command, args []string) error {
			return steering(cmd, a, func(ctx context.Context, v *inventory.View) error {
				if err := checkRole(v, args[0], force); err != nil {
					return err
				}
				if err := a.Confirm(ctx, yes, fmt.Sprintf("Have nobody lead %s?", args[0])); err != nil {
					return err
				}
				if err := v.PauseRole(ctx, args[0], s); err != nil {
					return err
				}
				return printSteering(a, "pause", "role", args[0], "nobody leads "+args[0]+" until it is resumed")
			})
		},
	}
	steeringFlags(cmd, &s, &yes)
	cmd.Flags().BoolVar(&force, "force", false, "also a role that the bucket does not know yet")
	return cmd
}

// ResumeAll is the command "rolectl roles resume".
func ResumeAll(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "resume ROLE", Short: "Let a role be led again that was paused for all", Args: cli.CheckArgs,
		ValidArgsFunction: inventory.CompleteRoles(a, 1),
		Long:              `Let a role be led again that rolectl roles pause has kept from all processes.`,
		Example:           "  rolectl roles resume scheduler",
		RunE: func(cmd *cobra.Command, args []string) error {
			return steering(cmd, a, func(ctx context.Context, v *inventory.View) error {
				was, all, err := checkSteered(v, args[0], func(s election.Steered) string { return s.Role }, checkRole)
				if err != nil {
					return err
				}
				if err := v.ResumeRole(ctx, args[0]); err != nil {
					return err
				}
				done := args[0] + " may be led again"
				if !was {
					done = notSteered("role", args[0], "paused for all", all)
				}
				return printSteering(a, "resume", "role", args[0], done)
			})
		},
	}
}

func steeringFlags(cmd *cobra.Command, s *election.Steering, yes *bool) {
	if u, err := user.Current(); err == nil {
		s.By = u.Username
	}
	cmd.Flags().StringVar(&s.Reason, "reason", "", "why, for others to read")
	cmd.Flags().DurationVar(&s.For, "for", 0, "ends by itself after so long (0: when it is taken back)")
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "do not ask; needed without a terminal")
}

// steering does something with a view of the bucket.
func steering(cmd *cobra.Command, a *cli.App, do func(ctx context.Context, v *inventory.View) error) error {
	v, err := inventory.Look(cmd, a, false, nil)
	if err != nil {
		return err
	}
	defer v.Close()
	if err = do(cmd.Context(), v); errors.Is(err, election.ErrPermission) {
		err = fmt.Errorf("%w: an operator may do that (the user op of docs/reference/permissions.md)", err)
	}
	return err
}

// untilEmpty waits until nobody in a zone leads a role that somebody elsewhere could lead.
func untilEmpty(ctx context.Context, v *inventory.View, zone string) error {
	for slices.ContainsFunc(v.Roles(), func(r election.RoleInfo) bool {
		at := func(here bool) func(c election.Candidate) bool {
			return func(c election.Candidate) bool {
				return (c.Zone == zone) == here && (!here || c.Instance == r.Leader)
			}
		}
		return r.Leader != "" && slices.ContainsFunc(r.Candidates, at(true)) && slices.ContainsFunc(r.Candidates, at(false))
	}) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func printSteering(a *cli.App, action, what, name, done string) error {
	p := a.Printer()
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Bucket  string `json:"bucket"`
			Action  string `json:"action"`
			About   string `json:"about"`
			Name    string `json:"name"`
			Message string `json:"message"`
		}{show.Of("steering"), a.Bucket, action, what, name, done})
	case "name":
		return p.Print(show.Table{Rows: []show.Row{{Name: name}}})
	}
	a.Say("%s", done)
	return nil
}
