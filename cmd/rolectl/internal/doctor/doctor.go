package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

const (
	Name        = "doctor"
	ExitUnknown = int(findings.Unknown) // the exit code if the checks could not run
)

// Command is the command "rolectl doctor".
func Command(a *cli.App) *cobra.Command {
	var checks Checks
	cmd := &cobra.Command{
		Use: Name, Short: "Find out what is wrong with a bucket, its servers, members and tasks, and what to do",
		Long: `Find out what is wrong with a bucket, its servers, its members and their tasks, and what to do about it.

With --bucket it checks only the namespaces of tasks in which members of that bucket work.

It needs read-only permissions, and lists every check that it could not run for lack of permission. Servers that are
cut off are known to users of the system account only: name a context of the nats tool with --system-context.

Exit codes, for monitoring: 0 ok, 1 warning, 2 critical, 3 unknown (no connection, no permission to look, bad usage).`,
		Example: "  rolectl doctor\n  rolectl doctor --for 30s -o json\n  rolectl doctor -o name   # only the names of " +
			"checks with a fault",
		Args: cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer a.EndWhenUnread(cmd)()
			checks.Chosen = cmd.Flags().Changed("bucket")
			found, err := Examine(cmd.Context(), a, checks)
			if err != nil {
				return err
			}
			if err := report(a, found); err != nil {
				return err
			}
			return cli.ExitCode(int(found.Worst()))
		},
	}
	cli.DurationFlag(cmd, &checks.For, "for", 0, 2*time.Second, "how long to watch heartbeats, clocks and changes")
	cmd.Flags().StringVar(&checks.System, "system-context", "",
		"context of the nats tool with a user of the system account, to look at all servers of JetStream")
	cli.CompleteFlagBy(cmd, "system-context",
		func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return a.Settings.Env.Contexts(), cobra.ShellCompDirectiveNoFileComp
		})
	return cmd
}

// Checks says how to examine a bucket.
type Checks struct {
	// For is how long to watch heartbeats, clocks and changes.
	For time.Duration
	// System names a context of the nats tool with a user of the system account, "" for none.
	System string
	// Chosen says that only the namespaces count in which members of the bucket work.
	Chosen bool
}

// Examine runs every check that can run, over the connection of the command. A fault that keeps
// it from looking is a finding too. Errors: those of usage, and cli.ErrInterrupted when ctx has
// ended: some checks did not run, so the result is unknown.
func Examine(ctx context.Context, a *cli.App, c Checks) (findings.List, error) {
	found, err := examine(ctx, a, c)
	switch {
	case ctx.Err() != nil:
		return nil, cli.ErrInterrupted
	case err != nil && cli.CodeOf(err) == cli.ExitUsage:
		return nil, err
	case err != nil:
		found.Add(findings.Unknown, "connection",
			"check --server and the credentials (rolectl --help lists their sources)", "%s", wording.Plain(err))
	}
	return found, nil
}

// examination is one run of the checks.
type examination struct {
	findings.List
	a    *cli.App
	s    *inventory.View
	seen *changes
	id   string // of the bucket
	// chosen says that the user has named the bucket.
	chosen bool
	// system is where a user of the system account asks, nil for nobody.
	system *connect.Target
	// servers are those that have answered, or unseen says why none has.
	servers []systemServer
	unseen  string
	// toLeader is the round trip to the leader of the bucket.
	toLeader time.Duration
	// useless means that this server is too old, or has no JetStream.
	useless bool
	// lost means that the meta group of JetStream has no leader here.
	lost bool
}

// unchecked adds that a check could not run, since this user may not ask for what it looks at.
func (x *examination) unchecked(check, format string, args ...any) {
	x.Add(findings.Unknown, check, "give this user what an observer that runs doctor has (docs/reference/permissions.md)",
		format, args...)
}

// examine runs every check that can run. It returns an error if the server or the bucket cannot be
// reached.
func examine(ctx context.Context, a *cli.App, c Checks) (findings.List, error) {
	x := examination{a: a, seen: &changes{beats: map[record.Peer]pulse{}}, chosen: c.Chosen}
	nc, err := a.Connect()
	if err != nil {
		return nil, err
	}
	if c.System != "" {
		target, err := a.Target.InContext(c.System)
		if err != nil {
			return nil, cli.UsageError(err)
		}
		x.system = &target
	}
	opening, cancel := context.WithTimeout(ctx, a.Target.Timeout)
	defer cancel()
	x.server(opening)
	if x.useless { // nothing that a further check would say is the fault, or its fix
		return x.List, nil
	}
	x.clusters(opening)
	if err := x.bucket(opening); err != nil {
		return x.List, err
	}
	if x.Worst() == findings.Critical { // a missing or unfit bucket cannot be observed
		if _, err := a.Reach().Open(opening, nc, a.Bucket); err != nil {
			return x.List, nil
		}
	}
	if x.lost { // it cannot be watched
		return x.List, nil
	}
	if x.s, err = inventory.OpenView(opening, a, true, x.seen.observe); err != nil {
		if errors.Is(err, election.ErrPermission) {
			x.Add(findings.Unknown, "permissions",
				"give this user the permissions of an observer (docs/reference/permissions.md)", "%s",
				wording.Plain(err))
			return x.List, nil
		}
		return x.List, err
	}
	defer x.s.Close()
	x.seen.begin()
	x.clock(ctx, c.For)
	x.roundTrip()
	x.permissions(ctx)
	x.records()
	x.Bucket(&findings.Bucket{
		Name: a.Bucket, Now: x.s.Now(), Roles: x.s.RolesFacts(), Members: x.s.MembersFacts(), Steered: x.s.Steered(),
		Spread: x.s.Spread(),
	})
	x.churn(c.For)
	x.tasks(ctx)
	return x.List, nil
}
