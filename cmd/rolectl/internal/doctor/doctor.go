package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

const (
	Name        = "doctor"
	ExitUnknown = int(unknown) // what doctor ends with when nothing was found out
)

func Command(a *cli.App) *cobra.Command {
	var watchFor time.Duration
	cmd := &cobra.Command{
		Use: Name, Short: "Find out what is wrong with a bucket, its servers, members and tasks, and say what to do",
		Long: `Find out what is wrong with a bucket, its servers and members, and the tasks that these work on, and say what to do.

It needs read-only permissions, and says what it could not find out with those that it has.

Exit codes, for monitoring: 0 ok, 1 warning, 2 critical, 3 unknown (no connection, no permission to look, bad usage).`,
		Example: "  rolectl doctor\n  rolectl doctor --for 30s -o json\n  rolectl doctor -o name   # only the names of the checks that found something",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer a.EndWhenUnread(cmd)()
			found, err := examine(cmd.Context(), a, watchFor)
			if cmd.Context().Err() != nil { // not everything was looked at, so nothing is well
				return cli.ErrInterrupted
			}
			if err != nil {
				if cli.CodeOf(err) == cli.ExitUsage {
					return err
				}
				found.add(unknown, "connection", "check --server and the credentials (rolectl --help says where they come from)", "%v", err)
			}
			if err := report(a, found); err != nil {
				return err
			}
			return cli.ExitCode(int(found.worst()))
		},
	}
	cli.DurationFlag(cmd, &watchFor, "for", 0, 2*time.Second, "how long to watch for what only time shows")
	return cmd
}

// examination is what the checks look at.
type examination struct {
	findings
	a    *cli.App
	s    *inventory.View
	seen *changes
}

// examine runs every check that can be run. An error says that nothing could be found out.
func examine(ctx context.Context, a *cli.App, watchFor time.Duration) (findings, error) {
	x := examination{a: a, seen: &changes{beats: map[protocol.Peer]pulse{}}}
	nc, err := a.Connect()
	if err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, a.Target.Timeout)
	defer cancel()
	x.server(opening)
	if err := x.bucket(opening); err != nil {
		return x.findings, err
	}
	if x.worst() == critical { // a bucket that is not there, or not fit, cannot be observed
		if _, err := natskv.Open(opening, nc, a.Bucket); err != nil {
			return x.findings, nil
		}
	}
	if x.s, err = inventory.OpenView(opening, a, true, x.seen.observe); err != nil {
		if errors.Is(err, election.ErrPermission) {
			x.add(unknown, "permissions", "give this user the permissions of an observer (docs/reference/permissions.md)", "%v", err)
			return x.findings, nil
		}
		return x.findings, err
	}
	defer x.s.Close()
	x.seen.begin()
	x.clock(ctx, watchFor)
	x.roundTrip()
	x.permissions(ctx)
	x.records()
	x.members()
	x.roles()
	x.churn(watchFor)
	x.tasks(ctx)
	return x.findings, nil
}
