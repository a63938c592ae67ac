package elect

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/stores"
)

// consulPeer is the command consul lock, which runs a program while it holds a lock, and gives the
// lock up when the program has ended: a guard of another kind.
var consulPeer = Peer{
	Name: "consul", Store: "consul", Settled: aSecond, Locks: true,
	Settings: func(time.Duration) string { return "the defaults of consul lock, whose session has a TTL of its own" },
	Prepare: func(ctx context.Context, addr string, _ time.Duration) error {
		for { // it has no events for that
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/v1/status/leader", nil)
			if err != nil {
				return err
			}
			answer, err := http.DefaultClient.Do(r)
			if err == nil {
				text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
				_ = answer.Body.Close()
				if strings.Contains(string(text), ":") {
					return nil
				}
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(50 * time.Millisecond):
			}
		}
	},
	Open: func(_ context.Context, c Config, w Work) (Candidate, error) {
		program, err := stores.ConsulProgram()
		return &consulCandidate{program: program, c: c, w: w}, err
	},
}

// consulCandidate is the parent of one consul lock.
type consulCandidate struct {
	program string
	c       Config
	w       Work
	pid     atomic.Int64 // of the program that leads, 0 before it runs
}

// Stand starts consul lock. This process ends when that does, after the lock is given up.
func (c *consulCandidate) Stand(_ context.Context, role string) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // consul lock is told to end when the thread of its start ends
		cmd := exec.Command(c.program, "lock", "-http-addr=http://"+c.c.Addr, "-name", c.c.Instance, "roles/"+role,
			"echo $$; exec sleep 3600")
		cmd.Stderr, cmd.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err != nil {
			return
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if pid, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				c.pid.Store(pid)
				c.w.begin(role)
			}
		}
		_ = cmd.Wait() // its program was killed
		os.Exit(0)
	}()
	return <-started
}

func (c *consulCandidate) Resign(context.Context, string) error {
	return fmt.Errorf("consul lock: kill its program")
}

func (c *consulCandidate) Leads(string) bool { return c.pid.Load() != 0 }

// Leader is the process that works.
func (c *consulCandidate) Leader() int { return int(c.pid.Load()) }
