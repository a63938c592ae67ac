package roles

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// StepDown is the command "rolectl step-down".
func StepDown(a *cli.App) *cobra.Command {
	var o steerOptions
	var force bool
	cmd := &cobra.Command{
		Use: "step-down ROLE", Short: "Make the leader give a role to the next in line, after its work has drained",
		Long: `Make the leader give a role to the next in line, and wait for the successor. When nobody is in line, the command waits only
for the drain, unless --wait is given: the same instance may lead again after its cool-down.

The leader stops its work, waits until the work has returned, and vacates the role. It does not contend for the role during
its cool-down. After that it takes the role back if it has a higher priority and AllowPriorityTakeover: "rolectl pause" keeps it
out. The request names the epoch that you were shown (or --epoch): if another instance leads by then, nothing
happens.

--force does not ask the leader, and does not wait for its work: it writes the role's record. The work stops when the leader
sees the record, at the latest when the lease runs out. Successors wait for the whole lease (TTL). A request that the work
has sent before may still arrive after the successor has begun: only fencing tokens keep the two apart. Use --force for a
leader that does not answer or whose work does not return. It needs the permission to write to the role's key.`,
		Example: "  rolectl step-down scheduler\n  rolectl step-down scheduler --yes --epoch 1795183322603491\n" +
			"  rolectl step-down scheduler --force",
		Args: cli.CheckArgs, ValidArgsFunction: inventory.CompleteRoles(a, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := steer(cmd.Context(), a, args[0], o.epoch)
			if err != nil {
				return err
			}
			defer t.close()
			b := t.before
			next := b.Successor
			switch {
			case next == "" && findings.Followed(&b):
				next = "a process with few roles (the role is spread)"
			case next == "":
				next = "nobody (the role has no leader until the cool-down of " + b.Leader + " is over)"
				if o.yes {
					a.Say("nobody is in line for %s: it has no leader until the cool-down of %s is over", b.Role, b.Leader)
				}
			}
			question := fmt.Sprintf("%s leads %s at epoch %d; next in line is %s. Step it down?", b.Leader, b.Role,
				b.Epoch, next)
			if back, takes := takesBack(&b, b.Successor); takes {
				question = takenBack(&b, back) + ". " + question
			}
			if force {
				question = fmt.Sprintf(
					"%s leads %s at epoch %d. Evict it? Its work is not waited for: the work may continue until the lease runs out, "+
						"and its requests may arrive later; successors wait %s. Only fencing tokens keep the two apart.",
					b.Leader, b.Role, b.Epoch, wording.Age(b.TTL))
			}
			if force && o.yes {
				a.Say("--force: the work of %s is not waited for; successors wait %s; only fencing tokens keep the two apart",
					b.Leader, wording.Age(b.TTL))
			}
			if err := a.Confirm(cmd.Context(), o.yes, question); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.wait)
			defer cancel()
			if force {
				err = t.s.Evict(ctx, b.Role, b.Epoch)
			} else {
				_, err = t.s.StepDown(ctx, b.Role, b.Epoch)
			}
			if err != nil {
				return t.explain(ctx, err)
			}
			t.patient = cmd.Flags().Changed("wait")
			return t.result(ctx, force)
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&force, "force", false,
		"do not ask the leader and do not wait for its work; the risks are described above")
	return cmd
}

// steerOptions are the flags of the commands that hand over a role.
type steerOptions struct {
	yes   bool
	epoch uint64
	wait  time.Duration
}

func (o *steerOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask; needed without a terminal")
	cmd.Flags().Uint64Var(&o.epoch, "epoch", 0, "only if the role is held at this epoch (0: the current one)")
	cli.DurationFlag(cmd, &o.wait, "wait", cli.ShortestWait, 30*time.Second,
		"how long to wait for the drain and the successor")
}
