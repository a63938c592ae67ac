//go:build linux || darwin

package supervise

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
)

// ErrGuard says that the guard was killed, and that the command was ended because of that.
var ErrGuard = errors.New("the guard of the command was killed")

// Result is the end of a run.
type Result struct {
	// Code is the exit code of the command, as a shell reports it.
	Code int
	// Lost says that the lease had ended or nearly ended, and that the command was ended because of
	// that.
	Lost bool
}

// slack is the smallest move of a deadline that the guard is told of: reading two clocks is not
// exact.
const slack = time.Millisecond

// Run runs a command until it ends, the lease nearly ends, or ctx ends. It returns when no process
// of the command is left. program is the command line of a process that calls Guard. When ctx ends
// the command gets TERM, and KILL after lease.Stop. Errors: the command or the guard could not be
// started, ErrGuard.
func Run(ctx context.Context, program []string, c Command, lease Lease) (Result, error) {
	g, err := startGuard(program)
	if err != nil {
		return Result{}, err
	}
	defer g.end()
	r := run{guard: g, lease: lease, clock: clock.System()}
	if left := r.look(); left <= lease.TermAhead {
		return Result{Lost: true}, nil
	}
	if r.cmd, err = c.start(g.group()); err != nil {
		return Result{}, err
	}
	return r.attend(ctx)
}

// run is one command while it runs.
type run struct {
	guard *guard
	lease Lease
	clock clock.Clock
	cmd   *exec.Cmd

	until  clock.Instant // when the trust ends, as the guard was told
	killAt clock.Instant // 0: the command was not asked to end
	killed bool
	lost   bool
}

// look reads how long the lease is still trusted, and tells the guard. It reads the clock first: if
// this process is stopped in between, the guard gets an earlier deadline, never a later one. A
// lease whose deadline has nearly passed counts as lost even if it was renewed meanwhile, because
// the guard may have acted.
func (r *run) look() time.Duration {
	now := r.clock.Holder()
	if r.until != 0 && now >= r.until.Add(-r.lease.TermAhead-r.lease.Look) {
		r.lost = true
	}
	left := r.lease.Left()
	until := now.Add(left)
	if d := until.Sub(r.until); left > 0 && (d > slack || d < -slack) {
		r.until = until
		o := order{Term: until.Add(-r.lease.TermAhead), Kill: until.Add(-r.lease.KillAhead), Stop: r.lease.Stop}
		if r.killAt != 0 {
			o.Kill = min(o.Kill, r.killAt)
		}
		r.guard.order(o)
	}
	return left
}

// attend watches the command, its lease and its guard until no process is left. A command that has
// to end gets TERM, and KILL after a while. When the command has ended by itself, processes that it
// left behind are ended in the same way.
func (r *run) attend(ctx context.Context) (Result, error) {
	exited := make(chan int, 1) // one end, and it must not wait for its reader
	go func() {                 // ends with the command; attend does not return before
		err := r.cmd.Wait()
		exited <- code(r.cmd.ProcessState, err)
	}()
	tick := time.NewTicker(r.lease.Look)
	defer tick.Stop()
	result, running := Result{}, true
	asked, gone := ctx.Done(), r.guard.gone
	var err error
	for {
		select {
		case result.Code = <-exited:
			running, exited = false, nil
			if r.killAt == 0 && others(r.guard.group()) {
				r.end()
			}
		case <-asked:
			asked = nil
			r.end()
		case <-gone: // killed, by our KILL, by its own, or by somebody else's
			gone = nil
			r.look()
			if !r.killed && !r.lost && r.killAt == 0 {
				err = ErrGuard
			}
			r.kill()
		case <-tick.C:
		}
		r.enforce(r.look())
		if !running && !others(r.guard.group()) {
			result.Lost = r.lost
			return result, err
		}
	}
}

// enforce kills the command when the lease has nearly ended, or when its time to end is over.
func (r *run) enforce(left time.Duration) {
	switch {
	case r.killed:
	case left <= r.lease.KillAhead:
		r.lost = true
		r.kill()
	case r.killAt != 0 && r.clock.Holder() >= r.killAt:
		r.kill()
	case r.lost || left <= r.lease.TermAhead:
		r.lost = true
		r.end()
	}
}

// end asks the command to end.
func (r *run) end() {
	if r.killAt == 0 {
		r.killAt = r.clock.Holder().Add(r.lease.Stop)
		r.guard.signal(syscall.SIGTERM)
	}
}

func (r *run) kill() {
	r.killed = true
	r.guard.signal(syscall.SIGKILL)
}
