package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Pause is the command "rolectl pause".
func Pause(a *cli.App) *cobra.Command {
	var yes bool
	cmd := pauseCommand(a, "pause ROLE INSTANCE", "Keep one process from leading a role; a leader steps down first",
		func(ctx context.Context, s *inventory.View, r election.RoleInfo, instance string) (string, error) {
			question := fmt.Sprintf("Keep %s from leading %s?", instance, r.Role)
			switch {
			case r.Leader == instance && !findings.Followed(&r):
				question = fmt.Sprintf("%s leads %s, and nobody is in line. Make it step down, and keep it from leading?", instance,
					r.Role)
			case r.Leader == instance && r.Successor == "":
				question = fmt.Sprintf("%s leads %s; it goes where the loads want it. Make it step down, and keep it from leading?",
					instance, r.Role)
			case r.Leader == instance:
				question = fmt.Sprintf("%s leads %s; next in line is %s. Make it step down, and keep it from leading?", instance,
					r.Role, r.Successor)
			}
			if err := a.Confirm(ctx, yes, question); err != nil {
				return "", err
			}
			ctx, cancel := context.WithTimeout(ctx, a.Target.Timeout)
			defer cancel()
			return instance + " does not lead " + r.Role + " until it is resumed or restarted", s.Pause(ctx, r.Role, instance)
		})
	cmd.Long = `Keep one process from leading a role. If it leads the role, it drains its work and gives the role up first.

The process stays a member, and leads other roles. It contends again after rolectl resume, or when it has been restarted.`
	cmd.Example = "  rolectl pause scheduler vm-2\n  rolectl pause scheduler vm-2 --yes"
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask; needed without a terminal")
	return cmd
}

// Resume is the command "rolectl resume".
func Resume(a *cli.App) *cobra.Command {
	cmd := pauseCommand(a, "resume ROLE INSTANCE", "Let a process lead a role again that was kept from it",
		func(ctx context.Context, s *inventory.View, r election.RoleInfo, instance string) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, a.Target.Timeout)
			defer cancel()
			return resumed(&r, instance), s.Resume(ctx, r.Role, instance)
		})
	cmd.Long = `Let a process lead a role again that rolectl pause has kept from it. It ends a cool-down too.`
	cmd.Example = "  rolectl resume scheduler vm-2"
	return cmd
}

// resumed says what comes of a resume, by what the member said before. One that says of its zone or
// its work why it does not lead may be paused as well.
func resumed(r *election.RoleInfo, instance string) string {
	i := slices.IndexFunc(r.Absent, func(x election.Absent) bool { return x.Instance == instance })
	switch {
	case r.Paused != nil:
		return fmt.Sprintf("%s contends for %s when that is resumed for all: rolectl roles resume %[2]s", instance, r.Role)
	case i < 0:
		return instance + " was not paused for " + r.Role
	case r.Absent[i].Why == findings.SaysUnhealthy:
		return instance + " was not paused for " + r.Role + ": it says that it is unhealthy"
	}
	return instance + " contends for " + r.Role
}

func pauseCommand(a *cli.App, use, short string,
	do func(ctx context.Context, s *inventory.View, r election.RoleInfo, instance string) (done string, err error),
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cli.CheckArgs, ValidArgsFunction: completeMembers(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := inventory.Look(cmd, a, false, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			role, instance := args[0], args[1]
			r, ok := s.Role(role)
			if !ok {
				return s.UnknownRole(role)
			}
			if all := contenders(s, role); !slices.Contains(all, instance) {
				return notContending(role, instance, all)
			}
			done, err := do(cmd.Context(), s, r, instance)
			switch {
			case errors.Is(err, election.ErrUnknownRole):
				return notContending(role, instance, nil)
			case errors.Is(err, nats.ErrNoResponders):
				return cli.ExitWith(cli.ExitFailed, fmt.Errorf("%s does not answer: if it has crashed, its lease runs out soon",
					instance))
			case err != nil:
				return err
			}
			return printPaused(a, cmd.Name(), role, instance, done)
		},
	}
}

func printPaused(a *cli.App, action, role, instance, done string) error {
	p := a.Printer()
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Bucket   string `json:"bucket"`
			Action   string `json:"action"`
			Role     string `json:"role"`
			Instance string `json:"instance"`
			Message  string `json:"message"`
		}{show.Of("eligibility"), a.Bucket, action, role, instance, done})
	case "name":
		return p.Print(show.Table{Rows: []show.Row{{Name: instance}}})
	}
	a.Say("%s", done)
	return nil
}

// contenders are the members that take part in a role, paused ones too.
func contenders(s *inventory.View, role string) (names []string) {
	for _, m := range s.Members() {
		if slices.Contains(m.Roles, role) {
			names = append(names, m.Instance)
		}
	}
	return names
}

func notContending(role, instance string, others []string) error {
	if len(others) == 0 {
		return fmt.Errorf("%s does not take part in %s", instance, role)
	}
	return fmt.Errorf("%s does not take part in %s; members that do: %s", instance, role, wording.FirstFew(others))
}

// completeMembers offers a role, then the members that take part in it.
func completeMembers(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return inventory.CompleteRoles(a, 1)(cmd, args, typed)
		}
		return inventory.CompleteObserved(a, func(o *election.Observer) (names []string) {
			for _, m := range o.Members() {
				if slices.Contains(m.Roles, args[0]) {
					names = append(names, m.Instance)
				}
			}
			return names
		})
	}
}
