//go:build linux || darwin

package supervise

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/offspring"
)

// glance is how often the guard at least reads the clock: a timer does not advance while the
// machine sleeps. sweep is how often it kills when it has to: a process may fork meanwhile.
const (
	glance = 250 * time.Millisecond
	sweep  = 20 * time.Millisecond
)

// Guard is the main function of a guard. It reads orders, starts the command with the first one,
// and signals it and all its descendants when an order is due or when rolectl is gone. It returns
// when nobody of them is left, or when it is released.
func Guard(path string, args []string) {
	syscall.CloseOnExec(ordersFD)
	syscall.CloseOnExec(reportsFD)
	catch()
	g := guardian{
		path: path, args: args, clock: clock.System(),
		reports: os.NewFile(reportsFD, "reports"), orders: make(chan order),
	}
	go func() { // ends when the orders end, that is with rolectl; after a release with the process
		defer close(g.orders)
		in := os.NewFile(ordersFD, "orders")
		for b := make([]byte, orderSize); ; {
			if _, err := io.ReadFull(in, b); err != nil {
				return
			}
			g.orders <- decodeOrder(b)
		}
	}()
	if _, err := g.reports.Write([]byte{listens, 0}); err == nil {
		g.attend()
	}
}

// catch keeps signals from this process that are for the command, which gets them itself. They are
// not ignored: the command would inherit that.
func catch() {
	never := make(chan os.Signal, 1)
	for _, s := range []os.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
		syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
	} {
		if !signal.Ignored(s) { // else the command is to inherit that (nohup)
			signal.Notify(never, s)
		}
	}
}

// guardian is a guard at work.
type guardian struct {
	path    string
	args    []string
	clock   clock.Clock
	orders  chan order
	reports *os.File

	cmd     *exec.Cmd
	family  *offspring.Family
	first   <-chan offspring.End // nil before the command runs, and when its end was reported
	none    <-chan struct{}      // nil until then: both may be ready at once, and the end is reported first
	present order
	armed   bool // there is an order
	termed  bool
	killed  bool
}

func (g *guardian) attend() {
	for {
		wait := time.NewTimer(untilDue(g.clock.Holder(), g.present, g.armed, g.termed, g.killed))
		select {
		case o, ok := <-g.orders:
			switch {
			case ok && o.Release, !ok && !g.armed:
				return
			case ok && o.Pass != 0:
				if g.armed {
					_ = g.cmd.Process.Signal(o.Pass) // it fails only when the command has ended
				}
			case ok:
				g.present = o
				if !g.armed && !g.start() {
					return
				}
				g.armed = true
			default: // rolectl is gone, and its lease will end
				now := g.clock.Holder()
				g.present.Term = min(g.present.Term, now)
				g.present.Kill = min(g.present.Kill, now.Add(g.present.Stop))
				g.orders = nil
			}
		case e := <-g.first:
			g.first, g.none = nil, g.family.None
			if e.Left {
				g.say(leaves, e.Code)
			} else {
				g.say(ended, e.Code)
			}
		case <-g.none:
			return
		case <-wait.C:
		}
		wait.Stop()
		g.enforce(g.clock.Holder())
	}
}

// start starts the command in the group of the guard, and reports whether it runs.
func (g *guardian) start() bool {
	if g.clock.Holder() >= g.present.Term {
		g.say(failed, 0)
		return false
	}
	g.cmd = &exec.Cmd{
		Path: g.path, Args: g.args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pgid: os.Getpid()},
	}
	err := claim()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		number := syscall.EINVAL
		errors.As(err, &number)
		g.say(failed, int(number))
		return false
	}
	g.say(started, 0)
	g.family = follow(g.cmd, os.Getpid())
	g.first = g.family.First
	return true
}

// say tells rolectl, if that is there.
func (g *guardian) say(what byte, number int) { _, _ = g.reports.Write([]byte{what, byte(number)}) }

// enforce sends the signals that are due.
func (g *guardian) enforce(now clock.Instant) {
	if !g.armed {
		return
	}
	if now >= g.present.Kill {
		g.killed = true
		signalAll(syscall.SIGKILL, os.Getpid(), os.Getpid())
	} else if now >= g.present.Term && !g.termed {
		signalAll(syscall.SIGTERM, os.Getpid(), os.Getpid())
		g.termed = true
	}
}

// untilDue returns how long no signal is due.
func untilDue(now clock.Instant, o order, armed, termed, killed bool) time.Duration {
	switch {
	case !armed:
		return time.Hour
	case killed:
		return sweep
	}
	due := o.Kill
	if !termed {
		due = min(due, o.Term)
	}
	return min(max(due.Sub(now), 0), glance)
}
