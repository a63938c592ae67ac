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

	exitNotFound = 127 // as a shell reports it
)

// Name is the name of the command. It passes on the exit code of the command that it runs.
const Name = "exec"

// Command is the command "rolectl exec".
func Command(a *cli.App) *cobra.Command {
	o := execOptions{wait: forever}
	cmd := &cobra.Command{
		Use: "exec ROLE [flags] -- COMMAND [ARG...]", Short: "Run a command only while this process leads a role",
		Long: `Contend for a role, and run a command only while this process leads it.

The command runs in its own process group, with ROLE, EPOCH, TOKEN and INSTANCE in its environment. EPOCH grows with every
term. TOKEN is the fencing token: send it along with every write to a shared resource. When the command ends by itself,
rolectl gives up the role and passes on the exit code (128 plus the signal for a command that was killed, 127 for a command
that cannot be started).

When the role is handed over, or rolectl is told to stop (INT, TERM, HUP, QUIT, or another signal that would end it), the
command and all its descendants get TERM, and KILL after --stop-timeout. They also get both before the lease runs out by the
local clock, whether or not the server answers: no command of a former leader runs when the next leader's command starts.
This holds even while rolectl is stopped (SIGSTOP, Ctrl-Z) or has been killed: a second process, the guard, watches the same
deadline. If both processes or the machine are stopped, the command is ended first when they continue; until then only
fencing tokens prevent harm. After an eviction (step-down --force) KILL follows at once. On Linux a daemon is followed too;
on macOS one that leaves the process group is not.

USR1, USR2 and ALRM are passed on to the command. As the first process of a container rolectl reaps what is left there.

Standard input is passed on, unless it is a terminal.`,
		Example: `  rolectl exec scheduler -- ./scheduler --verbose
  rolectl exec backup --wait 0s -- sh -c 'pg_dump db > /backup/$EPOCH'   # the first one runs it, the others exit with 3
  rolectl exec web --restart --on-lost wait -- ./serve                  # run it for ever`,
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
				return cli.ExitWith(exitNotFound, cannotRun(args[1], err))
			}
			return lead(cmd.Context(), a, args[0], path, args[1:], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.instance, "instance", "",
		"name of this process in the bucket, unique among live processes (default: host name and random digits)")
	cli.CompleteFlagBy(cmd, "instance", completeInstance(a))
	cli.DurationFlag(cmd, &o.ttl, "ttl", cli.MinTTL, 10*time.Second,
		"time without a heartbeat after which others may take over")
	f.IntVar(&o.priority, "priority", 0, "a candidate with a higher priority goes first")
	f.BoolVar(&o.takeover, "takeover", false, "make a leader of lower priority hand over the role")
	f.DurationVar(&o.wait, "wait", forever,
		"how long to wait for the first term, then exit with 3 (0s: not at all; negative: for ever)")
	f.Lookup("wait").DefValue = "for ever"
	cli.ChoiceFlag(cmd, &o.onLost, "on-lost", "exit", "when leadership is lost: exit with 5, or wait for the role again",
		"exit", "wait")
	f.BoolVar(&o.restart, "restart", false, "run the command again, after a pause, when it ends by itself")
	cli.DurationFlag(cmd, &o.stop, "stop-timeout", 0, 10*time.Second,
		"how long the command may take to end after TERM, as far as the lease allows")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only errors")
	return cmd
}

// GuardCommand is the hidden command that exec starts as the guard.
func GuardCommand() *cobra.Command {
	return &cobra.Command{
		Use: guardName, Hidden: true, Args: cobra.MinimumNArgs(2),
		Run: func(_ *cobra.Command, args []string) { supervise.Guard(args[0], args[1:]) },
	}
}

const guardName = "guard-process-group"

// stopSignals delivers the signals that ask this process to stop: all that would end it at once,
// and the command with it. An ignored HUP stays ignored (nohup).
func stopSignals() (<-chan os.Signal, func()) {
	which := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	for _, s := range ending {
		if !signal.Ignored(s) {
			which = append(which, s)
		}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, which...)
	return c, func() { signal.Stop(c) }
}

// passedOn delivers the signals that are for the command.
func passedOn() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 16) // so many may come at once
	for _, s := range passed {
		if !signal.Ignored(s) { // else the command would not inherit that it is
			signal.Notify(c, s)
		}
	}
	return c, func() { signal.Stop(c) }
}

// cannotRun says why a command cannot be run, without the prefix of package os/exec.
func cannotRun(command string, err error) error {
	var reason *exec.Error
	if errors.As(err, &reason) {
		err = reason.Err
	}
	return fmt.Errorf("cannot run %s: %w", command, err)
}
