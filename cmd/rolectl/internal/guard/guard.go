package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/guard"
	"github.com/rolemanager/rolemanager/internal/systemd"
)

// Name is the name of the command. It passes on the exit code of the program that it runs.
const Name = "guard"

const exitNotFound = 127 // as a shell reports it

// options are the flags of guard.
type options struct {
	stop, write   time.Duration
	leaveChildren bool
	quiet         bool
	listen        string
	mode          string
}

// Command is the command "rolectl guard".
func Command(a *cli.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "guard [flags] (-- PROGRAM [ARG...] | --listen SOCKET)",
		Short: "Run a program, and free its roles as soon as it has died",
		Long: `Run a program, and free its roles a few milliseconds after it has died, whatever its TTL is.

The program is any one that leads roles by this library; it needs no change. rolectl is its parent, and the parent of all that
its children leave behind. When the program has ended, what is left of it gets TERM, and KILL after --stop-timeout. When nothing
of it runs any more, rolectl ends its sessions in the bucket, and the next in line leads. If the server does not answer within
--write-timeout, the TTL decides, as it does without a guard.

rolectl passes signals on, and at the end the exit code: 128 plus the signal for a program that was killed, 127 for one that
cannot be started. It is made to be the entry point of a container, or of a systemd unit. It needs Linux.

rolectl tells systemd nothing itself: the program gets NOTIFY_SOCKET and WATCHDOG_USEC, and speaks. So a unit of Type=notify
needs NotifyAccess=all, and a program that does speak: one with roles.Config.SystemdNotify, or rolectl exec. For any other
program take Type=exec, without WatchdogSec. The ABRT of the watchdog is passed on to the program.

With --listen there is no program: rolectl guards all processes that have the path of the socket in ROLES_GUARD_SOCKET, as a
sidecar does. It ends the sessions of a process when that has ended and nobody is left in its cgroup or PID namespace, which is
not rolectl's. Where that cannot be seen it writes nothing, and says so. A process that may write to the socket may name any
lease. It ends with INT or TERM. It needs Linux 6.5, and does not start on an older one: there, run each program under
"rolectl guard -- PROGRAM", which needs no such kernel.

Bytes that the program has sent before its end may arrive later: effects outside the bucket still need the fencing token.`,
		Example: `  rolectl guard -- ./app --verbose
  rolectl guard --server nats://nats:4222 -- /app     # the entry point of a container
  rolectl guard --listen /run/roles/guard.sock --socket-mode 0660`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch dash := cmd.ArgsLenAtDash(); {
			case o.listen != "" && len(args) > 0:
				return errors.New("give a program or --listen, not both: rolectl guard -- PROGRAM")
			case o.listen != "":
				_, err := socketMode(o.mode)
				return err
			case dash == -1 && len(args) > 0:
				return errors.New("put -- before the program: rolectl guard -- PROGRAM")
			case dash > 0:
				return errors.New("only flags come before --: rolectl guard -- PROGRAM")
			case len(args) == 0:
				return errors.New("give a program after --: rolectl guard -- PROGRAM")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.listen != "" {
				return serve(cmd.Context(), a, o)
			}
			return run(context.WithoutCancel(cmd.Context()), a, args, o) // a signal is for the program
		},
	}
	f := cmd.Flags()
	cli.DurationFlag(cmd, &o.stop, "stop-timeout", time.Millisecond, 5*time.Second,
		"how long what is left of the program may take to end after TERM")
	cli.DurationFlag(cmd, &o.write, "write-timeout", time.Millisecond, 2*time.Second,
		"how long to try to end the sessions")
	f.BoolVar(&o.leaveChildren, "leave-children", false,
		"leave what the program has started alone; while it runs, the TTL decides")
	f.StringVar(&o.listen, "listen", "", "guard the processes that connect to this socket, and start none")
	f.StringVar(&o.mode, "socket-mode", "0600", "the mode of the socket, as in chmod")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only errors")
	return cmd
}

func run(ctx context.Context, a *cli.App, args []string, o options) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return cli.ExitWith(exitNotFound, fmt.Errorf("cannot run %s: %w", args[0], reason(err)))
	}
	signals, stop := passedOn()
	defer stop()
	nc, err := connect(a)
	if err != nil {
		return err
	}
	program := &exec.Cmd{
		Path: path, Args: args, Env: systemd.OnBehalf(os.Environ()),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	result, err := guard.Run(ctx, guard.Config{
		Conn: nc, Signals: signals, StopTimeout: o.stop, WriteTimeout: o.write, LeaveChildren: o.leaveChildren,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}, program)
	switch {
	case errors.Is(err, guard.ErrUnsupported):
		return err
	case err != nil:
		return cli.ExitWith(exitNotFound, fmt.Errorf("cannot run %s: %w", args[0], reason(err)))
	}
	report(a, result, o.quiet)
	return cli.ExitCode(result.Code)
}

// connect connects in the background: a program decides itself what to do without a server, so its
// guard is there in any case.
func connect(a *cli.App) (*nats.Conn, error) {
	return a.Connect(nats.Name("rolectl guard"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), nats.ReconnectWait(500*time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(2))
}

// report says what has become of the sessions.
func report(a *cli.App, r guard.Result, quiet bool) {
	for _, s := range r.Killed {
		if !quiet {
			a.Say("rolectl: ended the session of %s in %s, %v after the program",
				s.Instance, s.Bucket, s.Took.Round(100*time.Microsecond))
		}
	}
	for _, s := range r.Left {
		a.Say("rolectl: the session of %s in %s is left: %v", s.Instance, s.Bucket, s.Err)
	}
}

// passedOn delivers the signals that the program is to get, without those that a terminal has sent
// to the whole process group already. All are caught, not ignored: a program would inherit that.
func passedOn() (<-chan os.Signal, func()) {
	signals, others := make(chan os.Signal, 16), make(chan os.Signal, 1)
	notify := func(c chan<- os.Signal, which []os.Signal) {
		for _, s := range which {
			if !signal.Ignored(s) { // else the program would not inherit that it is (nohup)
				signal.Notify(c, s)
			}
		}
	}
	notify(signals, always)
	if term.IsTerminal(int(os.Stdin.Fd())) {
		notify(others, fromTerminal)
	} else {
		notify(signals, fromTerminal)
	}
	return signals, func() {
		signal.Stop(signals)
		signal.Stop(others)
	}
}

// reason is why a program cannot be run, without the prefix of package os/exec.
func reason(err error) error {
	if e := (*exec.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
