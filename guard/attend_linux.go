package guard

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rolemanager/rolemanager/internal/offspring"
)

var (
	errChildren   = errors.New("what the program has started runs on, and is left alone: the TTL decides")
	errUnkillable = errors.New("what the program has started cannot be killed: the TTL decides")
)

// unkillable is how long after KILL a process may be there: the kernel keeps one that waits for a
// device.
const unkillable = 10 * time.Second

// attend waits until the program has ended, passes signals on, and tells it to end when ctx ends.
func attend(ctx context.Context, f *offspring.Family, cfg Config, cmd *exec.Cmd) offspring.End {
	stopped, signals := ctx.Done(), cfg.Signals
	var late, stays <-chan time.Time
	for { // a signal fails only when the program has ended
		select {
		case e := <-f.First:
			return e
		case s, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			_ = cmd.Process.Signal(s)
		case <-stopped:
			stopped, late = nil, time.After(cfg.StopTimeout)
			_ = cmd.Process.Signal(unix.SIGTERM)
		case <-late:
			late, stays = nil, time.After(unkillable)
			_ = cmd.Process.Kill()
		case <-stays:
			return offspring.End{Code: 128 + int(unix.SIGKILL), Left: true}
		}
	}
}

// sweep ends what the program has left behind, at once when there is a signal meanwhile. It reports
// whether nobody is left.
func sweep(f *offspring.Family, cfg Config) bool {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	signals, term := cfg.Signals, cfg.StopTimeout
	began := time.Now()
	offspring.Signal(unix.SIGTERM, 0)
	for {
		select {
		case <-f.None:
			return true
		case _, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			term = min(term, time.Since(began))
		case <-again.C:
		}
		switch since := time.Since(began); {
		case since > term+unkillable:
			return false
		case since > term: // again and again: a process may fork meanwhile
			offspring.Signal(unix.SIGKILL, 0)
		}
	}
}
