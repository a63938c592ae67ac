//go:build linux || darwin

package supervise

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
)

// glance is how often the guard at least reads the clock: a timer does not advance while the
// machine sleeps.
const glance = 250 * time.Millisecond

// Guard is the main function of a guard. It reads orders from in, and signals its own process group
// when an order is due or when rolectl is gone. It returns when it is released.
func Guard(in io.Reader, out io.Writer) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN,
		syscall.SIGTTOU, syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
	orders := make(chan order)
	go func() { // ends when in ends, that is with rolectl; after a release with the process
		defer close(orders)
		for b := make([]byte, orderSize); ; {
			if _, err := io.ReadFull(in, b); err != nil {
				return
			}
			orders <- decodeOrder(b)
		}
	}()
	if _, err := out.Write([]byte{'\n'}); err != nil { // it listens, and ignores signals from now on
		return
	}
	clk := clock.System()
	present, armed, termed := order{}, false, false
	for {
		wait := time.NewTimer(untilDue(clk.Holder(), present, armed, termed))
		select {
		case o, ok := <-orders:
			switch {
			case ok && o.Release, !ok && !armed:
				return
			case ok:
				present, armed = o, true
			default: // rolectl is gone, and its lease will end
				now := clk.Holder()
				present.Term = min(present.Term, now)
				present.Kill = min(present.Kill, now.Add(present.Stop))
				orders = nil
			}
		case <-wait.C:
		}
		wait.Stop()
		now := clk.Holder()
		if armed && now >= present.Kill {
			_ = syscall.Kill(-os.Getpid(), syscall.SIGKILL) // this process too
			return                                          // it leads no group, so there is nothing to guard
		}
		if armed && now >= present.Term && !termed {
			termed = true
			_ = syscall.Kill(-os.Getpid(), syscall.SIGTERM)
		}
	}
}

// untilDue returns how long no signal is due.
func untilDue(now clock.Instant, o order, armed, termed bool) time.Duration {
	if !armed {
		return time.Hour
	}
	due := o.Kill
	if !termed {
		due = min(due, o.Term)
	}
	return min(max(due.Sub(now), 0), glance)
}
