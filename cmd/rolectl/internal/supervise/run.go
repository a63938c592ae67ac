//go:build linux || darwin

package supervise

import (
	"context"
	"errors"
	"os"
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

// Run runs a command until it ends, the lease nearly ends, or ctx ends. It returns when neither the
// command nor a descendant of it is left. program is the command line of a process that calls Guard
// with what follows "--". When ctx ends the command gets TERM, and KILL after lease.Stop. One
// process runs one command at a time, and has no other children. Errors: the command or the guard
// could not be started, ErrGuard.
func Run(ctx context.Context, program []string, c Command, lease Lease) (Result, error) {
	g, err := startGuard(program, c)
	if err != nil {
		return Result{}, err
	}
	defer g.tell.Close()
	r := run{guard: g, command: c, lease: lease, clock: clock.System()}
	if left := r.look(); left <= lease.TermAhead {
		g.end()
		return Result{Lost: true}, nil
	}
	return r.attend(ctx)
}

// run is one command while it runs.
type run struct {
	guard   *guard
	command Command
	lease   Lease
	clock   clock.Clock

	until  clock.Instant // when the trust ends, as the guard was told
	killAt clock.Instant // 0: the command was not asked to end
	killed bool
	lost   bool

	started bool // the command runs, or ran: before that nobody hears a TERM
	over    bool // the command has ended, or was never started: then code and err tell how
	code    int
	err     error
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
	tick := time.NewTicker(r.lease.Look)
	defer tick.Stop()
	asked, said, first, signals := ctx.Done(), r.guard.said, r.guard.family.First, r.command.Signals
	for {
		select {
		case report, ok := <-said:
			if ok {
				r.hear(report)
				break
			}
			said = nil
			r.bereft()
		case e := <-first: // the guard
			first, said = nil, nil
			r.lastWords()
			if e.Left && r.killAt == 0 && !r.killed {
				r.end()
			}
		case s, ok := <-signals:
			if ok {
				r.guard.pass(s)
			} else {
				signals = nil
			}
		case <-asked:
			asked = nil
			r.end()
		case <-tick.C:
		case <-r.guard.family.None:
			r.lastWords()
			return Result{Code: r.code, Lost: r.lost}, r.err
		}
		r.enforce(r.look())
	}
}

// hear takes a report of the guard.
func (r *run) hear(x report) {
	switch {
	case x[0] == started:
		if r.started = true; r.killAt != 0 && !r.killed { // it was asked to end before it was there
			r.guard.term()
		}
	case x[0] == failed && x[1] == 0:
		r.over, r.lost = true, true
	case x[0] == failed:
		r.over, r.err = true, &os.PathError{Op: "start", Path: r.command.Path, Err: syscall.Errno(x[1])}
	case x[0] == ended, x[0] == leaves:
		if r.over, r.code = true, int(x[1]); x[0] == leaves && r.killAt == 0 {
			r.end()
		}
	}
}

// lastWords hears what the guard has said before its end, which ends it. Whether rolectl learns of
// that end first is a matter of chance, and must not decide how the command ends.
func (r *run) lastWords() {
	for report := range r.guard.said {
		r.hear(report)
	}
	r.bereft()
}

// bereft is called when the guard is gone: by itself, by our KILL, or by somebody else's.
func (r *run) bereft() {
	if r.over {
		return
	}
	r.look()
	if !r.killed && !r.lost && r.killAt == 0 {
		r.err = ErrGuard
	}
	r.over, r.code = true, 128+int(syscall.SIGKILL) // nobody is left to tell
	r.kill()
}

// enforce kills the command when the lease has nearly ended, or when its time to end is over.
func (r *run) enforce(left time.Duration) {
	switch {
	case r.killed: // again and again: a process may fork meanwhile
		r.kill()
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
		if r.started {
			r.guard.term()
		}
	}
}

func (r *run) kill() {
	r.killed = true
	r.guard.kill()
}
