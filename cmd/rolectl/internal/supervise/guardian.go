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

// glance is how often the guard looks at the clock at least: a timer stands still while the machine sleeps.
const glance = 250 * time.Millisecond

// Guard is the whole life of a guard: it reads orders from in and signals its own process group when they say so, or when
// nobody gives orders any more. It returns when it is released.
func Guard(in io.Reader, out io.Writer) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN,
		syscall.SIGTTOU, syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
	orders := make(chan order)
	go func() { // ends with in, which ends with who gives the orders; after a release with the process
		defer close(orders)
		for b := make([]byte, orderSize); ; {
			if _, err := io.ReadFull(in, b); err != nil {
				return
			}
			orders <- decodeOrder(b)
		}
	}()
	if _, err := out.Write([]byte{'\n'}); err != nil { // it listens, and heeds no signal any more
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
			default: // who gave the orders is gone, and the lease with it
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
			return                                          // it leads no group: there is nobody to guard
		}
		if armed && now >= present.Term && !termed {
			termed = true
			_ = syscall.Kill(-os.Getpid(), syscall.SIGTERM)
		}
	}
}

// untilDue is how long nothing has to be done.
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
