package exec

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/supervise"
)

// execOptions are the flags of exec.
type execOptions struct {
	instance string
	ttl      time.Duration
	priority int
	takeover bool
	wait     time.Duration
	onLost   string
	restart  bool
	stop     time.Duration
	quiet    bool
}

const (
	forever = time.Duration(-1)

	exitNotFound = 127 // as a shell says it
)

func Command(a *cli.App) *cobra.Command {
	o := execOptions{wait: forever}
	cmd := &cobra.Command{
		Use: "exec ROLE [flags] -- COMMAND [ARG...]", Short: "Run a command only while this process leads a role",
		Long: `Contend for a role, and run a command only while this process leads it.

The command runs in a process group of its own, with ROLE, EPOCH, TOKEN and INSTANCE in its environment: EPOCH grows with every
term, TOKEN is the fencing token, to be sent along with every effect on the outside. When it ends by itself the role is given
up and its exit code is passed on (128 and the signal for one that was killed, 127 for a command that cannot be started).

When the role is to be handed over, or rolectl is told to stop (INT, TERM, HUP), the group gets TERM, and KILL after
--stop-timeout. Before the lease runs out by the local clock, whatever the server says or does not say, it gets TERM, and
KILL: no command of a former leader runs when the next one's starts. That is also so while rolectl itself is stopped (SIGSTOP,
Ctrl-Z) or killed: a second process, the guard, watches the same deadline. If both are stopped, or the machine is, the
command is ended before anything else when they go on; until then only fencing tokens keep it from doing harm. A command
that leaves its process group (a daemon) is not followed. After an eviction (step-down --force) KILL comes at once.

Standard input is passed on, unless it is a terminal.`,
		Example: `  rolectl exec scheduler -- ./scheduler --verbose
  rolectl exec backup --wait 0s -- sh -c 'pg_dump db > /backup/$EPOCH'   # whoever comes first; the others exit with 3
  rolectl exec web --restart --on-lost wait -- ./serve                  # for ever`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch dash := cmd.ArgsLenAtDash(); {
			case dash == -1 && len(args) > 0:
				return errors.New("put -- before the command: rolectl exec ROLE -- COMMAND")
			case dash != 1:
				return errors.New("give one role before --: rolectl exec ROLE -- COMMAND")
			case len(args) < 2:
				return errors.New("give a command after --: rolectl exec ROLE -- COMMAND")
			}
			return nil
		},
		ValidArgsFunction: inventory.CompleteRoles(a, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := exec.LookPath(args[1])
			if err != nil {
				return cli.ExitWith(exitNotFound, fmt.Errorf("cannot run %s: %w", args[1], err))
			}
			return lead(cmd.Context(), a, args[0], path, args[1:], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.instance, "instance", "", "name of this process in the bucket, unique among the live ones (default host name and random digits)")
	cli.CompleteFlagBy(cmd, "instance", completeInstance(a))
	cli.DurationFlag(cmd, &o.ttl, "ttl", cli.MinTTL, 10*time.Second, "how long others must see the lease stand still before they may take over")
	f.IntVar(&o.priority, "priority", 0, "who has the higher one goes first")
	f.BoolVar(&o.takeover, "takeover", false, "be handed the role by a leader of lower priority")
	f.DurationVar(&o.wait, "wait", forever, "how long to wait for the role at first, then exit with 3 (0s: not at all; negative: for ever)")
	f.Lookup("wait").DefValue = "for ever"
	cli.ChoiceFlag(cmd, &o.onLost, "on-lost", "exit", "when leadership is lost: exit (with 5), or wait for it again", "exit", "wait")
	f.BoolVar(&o.restart, "restart", false, "run the command again, after a pause, when it ends by itself")
	cli.DurationFlag(cmd, &o.stop, "stop-timeout", 0, 10*time.Second, "how long the command may take to end after TERM, the lease permitting")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing but errors")
	return cmd
}

// GuardCommand is what exec starts a second time.
func GuardCommand() *cobra.Command {
	return &cobra.Command{
		Use: guardName, Hidden: true, Args: cli.CheckArgs,
		Run: func(*cobra.Command, []string) { supervise.Guard(os.Stdin, os.Stdout) },
	}
}

const guardName = "guard-process-group"

// stopSignals delivers what asks this process to stop. HUP that was ignored stays so (nohup).
func stopSignals() (<-chan os.Signal, func()) {
	which := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		which = append(which, syscall.SIGHUP)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, which...)
	return c, func() { signal.Stop(c) }
}
