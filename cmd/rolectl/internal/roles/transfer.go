package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
)

// Transfer is the command "rolectl transfer".
func Transfer(a *cli.App) *cobra.Command {
	var o steerOptions
	cmd := &cobra.Command{
		Use: "transfer ROLE INSTANCE", Short: "Make the leader hand a role to one instance, after its work has drained",
		Long: `Make the leader hand a role to one instance, and wait until that instance leads.

The leader asks the instance whether it is ready, stops its own work, waits until the work has returned, and vacates the role
for the instance.`,
		Example: "  rolectl transfer scheduler vm-2\n  rolectl transfer scheduler vm-2 --yes -o json",
		Args:    cli.CheckArgs, ValidArgsFunction: completeTransfer(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := steer(cmd.Context(), a, args[0], o.epoch)
			if err != nil {
				return err
			}
			defer t.close()
			b, target := t.before, args[1]
			t.target = target
			if target == b.Leader {
				return fmt.Errorf("%s already leads %s", target, b.Role)
			}
			if !slices.ContainsFunc(b.Candidates, func(c election.Candidate) bool { return c.Instance == target }) {
				return notCandidate(b, target)
			}
			question := fmt.Sprintf("%s leads %s at epoch %d. Hand it to %s?", b.Leader, b.Role, b.Epoch, target)
			if back, takes := takesBack(&b, target); takes {
				question = takenBack(&b, back) + ". " + question
			}
			if err := a.Confirm(cmd.Context(), o.yes, question); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.wait)
			defer cancel()
			switch err := t.s.Transfer(ctx, b.Role, target, b.Epoch); {
			case errors.Is(err, election.ErrNotCandidate):
				return notCandidate(b, target)
			case errors.Is(err, election.ErrDeclined):
				return fmt.Errorf("%s did not confirm that it is ready, so %s keeps %s", target, b.Leader, b.Role)
			case err != nil:
				return t.explain(ctx, err)
			}
			return t.result(ctx, false)
		},
	}
	o.flags(cmd)
	return cmd
}

// notCandidate is the error about an instance that cannot take a role.
func notCandidate(b election.RoleInfo, target string) error {
	var others []string
	for _, c := range b.Candidates {
		if c.Instance != b.Leader {
			others = append(others, c.Instance)
		}
	}
	if len(others) == 0 {
		return fmt.Errorf("%s is not a live, eligible candidate for %s, and there is no other", target, b.Role)
	}
	return fmt.Errorf("%s is not a live, eligible candidate for %s; candidates: %s", target, b.Role,
		strings.Join(others, ", "))
}

// completeTransfer offers a role, then the candidates of the role except its leader.
func completeTransfer(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return inventory.CompleteRoles(a, 1)(cmd, args, typed)
		}
		return inventory.CompleteObserved(a, func(o *election.Observer) (names []string) {
			r, _ := o.Role(args[0])
			for _, c := range r.Candidates {
				if c.Instance != r.Leader {
					names = append(names, c.Instance)
				}
			}
			return names
		})
	}
}
