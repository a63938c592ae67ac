package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/supervise"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/systemd"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// work is the work of one term: it runs the command, with --restart again and again. It returns
// when no process of it is left.
func (l *leadership) work(ctx context.Context, t *election.Term) error {
	l.working.Store(true)
	defer l.working.Store(false)
	select {
	case l.began <- struct{}{}:
	default:
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.stopping, cancel)()
	pause := restartPause
	for {
		if running.Err() != nil {
			return l.ended(ctx, t, supervise.Result{Lost: ctx.Err() != nil})
		}
		l.say("leading %s at epoch %d: running %s", t.Role(), t.Epoch(), l.args[0])
		started := time.Now()
		result, err := supervise.Run(running, l.program, l.command(t), l.lease(ctx, t))
		switch {
		case err != nil:
			l.end(cli.ExitWith(cli.ExitFailed, fmt.Errorf("run %s: %w", l.args[0], err)))
			return nil
		case running.Err() != nil || result.Lost:
			return l.ended(ctx, t, result)
		case !l.restart:
			l.end(cli.ExitCode(result.Code))
			return nil
		}
		if time.Since(started) > maxRestartPause {
			pause = restartPause
		}
		l.say("%s has ended with exit code %d: restart in %v", l.args[0], result.Code, pause)
		select {
		case <-time.After(pause):
		case <-running.Done():
		}
		pause = min(2*pause, maxRestartPause)
	}
}

// The pause before a restart doubles while the command keeps ending soon.
const (
	restartPause    = time.Second
	maxRestartPause = 30 * time.Second
)

// ended ends a run that was interrupted: by the end of the term, or because this process shall
// stop.
func (l *leadership) ended(ctx context.Context, t *election.Term, result supervise.Result) error {
	if ctx.Err() == nil && !result.Lost { // told to stop
		l.end(cli.ExitCode(result.Code))
		return nil
	}
	why := context.Cause(ctx)
	if why == nil {
		why = errors.New("the lease had nearly run out")
	}
	if l.onLost == "exit" {
		l.end(cli.ExitWith(cli.ExitLost, fmt.Errorf("lost leadership of %s: %w", t.Role(), why)))
		return nil
	}
	l.say("lost leadership of %s: %s; waiting for it again", t.Role(), wording.Plain(why))
	if ctx.Err() == nil {
		return why // give the role up: the command of this term has been ended
	}
	return nil
}

func (l *leadership) end(outcome error) {
	select {
	case l.outcome <- outcome:
	default:
	}
}

func (l *leadership) command(t *election.Term) supervise.Command {
	c := supervise.Command{Path: l.path, Args: l.args, Stdout: os.Stdout, Stderr: os.Stderr, Signals: l.signals}
	if !show.IsTerminal(os.Stdin) { // a background process group that reads a terminal is stopped
		c.Stdin = os.Stdin
	}
	c.Env = append(systemd.WithoutIt(os.Environ()), "ROLE="+t.Role(), "EPOCH="+strconv.FormatUint(t.Epoch(), 10),
		"TOKEN="+t.Token().Encode(), "INSTANCE="+l.session.Instance())
	return c
}

// lease says how long this process may still act on a term.
func (l *leadership) lease(ctx context.Context, t *election.Term) supervise.Lease {
	lease := supervise.For(l.session.Config().TTL)
	lease.Stop = l.stop
	number := bridge.Number(l.session)
	lease.Left = func() time.Duration {
		left := bridge.TrustedFor(l.session)
		switch {
		case bridge.Number(l.session) != number: // read last: the trust was that in this lease or in an earlier one
			return 0
		case ctx.Err() == nil && !t.Valid():
			// The trust has run out, or the term is ending at this moment; then the cause tells
			// how.
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
				return 0
			}
		}
		// Work whose role was taken by force, or whose lease is lost, has no time left.
		if cause := context.Cause(ctx); errors.Is(cause, election.ErrEvicted) || errors.Is(cause, election.ErrSessionLost) {
			return 0
		}
		return left
	}
	return lease
}
