package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/supervise"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// leadership is one exec: its part in the role, and the command while it leads.
type leadership struct {
	execOptions
	a       *app
	path    string
	args    []string
	program []string // starts the guard
	session *election.Session

	stopping context.Context // ends when this process is told to stop
	began    chan struct{}   // cap 1: it leads, or has led
	working  atomic.Bool     // the work of a term has begun and not returned
	outcome  chan error      // cap 1: the first counts; nil is exit code 0
}

// lead takes part in a role until the command is through.
func (a *app) lead(ctx context.Context, role, path string, args []string, o execOptions) error {
	signals, unsubscribe := stopSignals()
	defer unsubscribe()
	self, err := thisProgram()
	if err != nil {
		return fmt.Errorf("find this program, which guards the command too: %w", err)
	}
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	l := &leadership{
		execOptions: o, a: a, path: path, args: args, program: []string{self, guardName},
		stopping: stopping, began: make(chan struct{}, 1), outcome: make(chan error, 1),
	}
	cfg := o.session(a.bucket)
	cfg.Sinks = []event.Sink{event.SinkFunc(l.observe)}
	part := o.role(role)
	part.Lead = l.work
	if l.session, err = election.NewSession(cfg); err != nil {
		return usage(err)
	}
	e, err := l.session.Campaign(part)
	if err != nil {
		return usage(err)
	}
	if err := a.open(ctx, l.session); err != nil {
		return err
	}
	if err := e.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.say("%s contends for %s", l.session.Instance(), role)
	err = l.attend(role, signals, stop)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.target.Timeout)
	defer cancel()
	if left := l.session.Close(closing); left != nil && err == nil {
		l.say("the role is held until the lease runs out: %v", left)
	}
	return err
}

// thisProgram is where to find it, also when its file was replaced while it runs.
func thisProgram() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// open connects as a session wants it, and opens it.
func (a *app) open(ctx context.Context, s *election.Session) error {
	beat := s.Config().HeartbeatInterval
	pause := min(beat, time.Second)
	options := []nats.Option{
		nats.Name("rolectl exec " + s.Instance()), nats.MaxReconnects(-1), nats.ReconnectWait(pause), nats.ReconnectJitter(pause/2, pause),
		nats.ReconnectBufSize(-1), // what is published while the connection is down fails at once: later, its time is over
		nats.PingInterval(beat), nats.MaxPingsOutstanding(2), nats.FlusherTimeout(beat),
	}
	if target, err := a.settings.Resolve(); err != nil {
		return usage(err)
	} else if target.InboxPrefix == "" {
		options = append(options, nats.CustomInboxPrefix("_INBOX_"+s.Instance()))
	}
	nc, err := a.connect(options...)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, a.target.Timeout)
	defer cancel()
	b, err := natskv.Open(asking, nc, a.bucket)
	if err != nil { // what does not answer is no server, and is not waited for
		return fault(err)
	}
	if ttl := s.Config().TTL; ttl > b.MaxTTL() {
		return usage(fmt.Errorf("--ttl %v is above the %v that bucket %s allows: give less, or make the bucket with a larger --max-ttl", ttl, b.MaxTTL(), a.bucket))
	}
	// Over the lease of a predecessor with our name, opening waits until that has run out.
	ctx, cancel = context.WithTimeout(ctx, a.target.Timeout+4*s.Config().TTL)
	defer cancel()
	return s.Open(ctx, nc)
}

// attend waits for what ends an exec, and returns its outcome.
func (l *leadership) attend(role string, signals <-chan os.Signal, stop func()) error {
	var patience <-chan time.Time
	if l.wait >= 0 {
		patience = time.After(l.wait)
	}
	began, extended, told := l.began, false, false
	for {
		select {
		case <-began:
			began, patience = nil, nil
		case err := <-l.outcome:
			return err
		case <-patience:
			if len(l.began) > 0 { // both at once: it leads
				continue
			}
			leader := l.leader(role)
			if leader == "" && !extended { // the role is free, and we are about to take it
				extended, patience = true, time.After(l.claimWithin())
				continue
			}
			if leader == "" {
				leader = "nobody"
			}
			return &failure{exitNoLeader, fmt.Errorf("not elected within %v: %s leads %s", l.wait, leader, role)}
		case s := <-signals:
			stop()
			if !l.working.Load() { // the work looks at stopping before it begins
				return &failure{128 + int(s.(syscall.Signal)), nil}
			}
			if !told {
				told = true
				l.say("stopping: TERM sent, KILL in %v", l.stop)
			}
		case <-l.session.Done():
			if err := l.session.Err(); err != nil {
				return err
			}
			return election.ErrClosed
		}
	}
}

// claimWithin is what taking a free role may need: a beat and a write, and a few attempts.
func (l *leadership) claimWithin() time.Duration { return max(l.session.Config().TTL, 2*time.Second) }

// leader is who leads as our own session sees it.
func (l *leadership) leader(role string) string {
	r, _ := l.session.Role(role)
	return r.Leader
}

// work is the work of one term: the command, again and again if so wanted. It returns when nothing of it is left.
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
			l.end(&failure{exitFailed, fmt.Errorf("run %s: %w", l.args[0], err)})
			return nil
		case running.Err() != nil || result.Lost:
			return l.ended(ctx, t, result)
		case !l.restart:
			l.end(coded(result.Code))
			return nil
		}
		if time.Since(started) > maxRestartPause {
			pause = restartPause
		}
		l.say("%s has ended with %d: again in %v", l.args[0], result.Code, pause)
		select {
		case <-time.After(pause):
		case <-running.Done():
		}
		pause = min(2*pause, maxRestartPause)
	}
}

// The pause before a command is run again grows while it ends soon.
const (
	restartPause    = time.Second
	maxRestartPause = 30 * time.Second
)

// ended decides what a run that did not end by itself means.
func (l *leadership) ended(ctx context.Context, t *election.Term, result supervise.Result) error {
	if ctx.Err() == nil && !result.Lost { // told to stop
		l.end(coded(result.Code))
		return nil
	}
	why := context.Cause(ctx)
	if why == nil {
		why = errors.New("the lease was nearly over")
	}
	if l.onLost == "exit" {
		l.end(&failure{exitLost, fmt.Errorf("leads %s no longer: %w", t.Role(), why)})
		return nil
	}
	l.say("leads %s no longer: %v; waiting for it again", t.Role(), why)
	if ctx.Err() == nil {
		return why // give the role up: what was ended must not count as led
	}
	return nil
}

func (l *leadership) end(outcome error) {
	select {
	case l.outcome <- outcome:
	default:
	}
}

// coded is the outcome of an exit code that is passed on.
func coded(code int) error {
	if code == 0 {
		return nil
	}
	return &failure{code, nil}
}

func (l *leadership) command(t *election.Term) supervise.Command {
	c := supervise.Command{Path: l.path, Args: l.args, Stdout: os.Stdout, Stderr: os.Stderr}
	if !show.IsTerminal(os.Stdin) { // a background group that reads a terminal is stopped
		c.Stdin = os.Stdin
	}
	c.Env = append(os.Environ(), "ROLE="+t.Role(), "EPOCH="+strconv.FormatUint(t.Epoch(), 10),
		"TOKEN="+t.Token().Encode(), "INSTANCE="+l.session.Instance())
	return c
}

// lease says for how much longer a term may be acted upon.
func (l *leadership) lease(ctx context.Context, t *election.Term) supervise.Lease {
	lease := supervise.For(l.session.Config().TTL)
	lease.Stop = l.stop
	number := l.session.Number()
	lease.Left = func() time.Duration {
		left := l.session.BelievesFor()
		switch {
		case l.session.Number() != number: // read after: what was believed in was this lease, or one before it
			return 0
		case ctx.Err() == nil && !t.Valid():
			// Its belief has run out, or the term is being ended this very moment; then its cause says how.
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
				return 0
			}
		}
		// Work whose role was taken by force, or whose lease is lost, has no time left that is its own.
		if cause := context.Cause(ctx); errors.Is(cause, election.ErrEvicted) || errors.Is(cause, election.ErrSessionLost) {
			return 0
		}
		return left
	}
	return lease
}

// say tells what is going on. The command may write to the same place.
func (l *leadership) say(format string, args ...any) {
	if l.quiet {
		return
	}
	if l.a.format != "json" {
		format = "rolectl: " + format
	}
	l.a.say(format, args...)
}

// observe tells the user what happens to the connection; what happens to the role is told by the work.
func (l *leadership) observe(e event.Event) {
	switch e := e.(type) {
	case event.ConnectionChanged:
		if !e.Connected {
			l.say("no connection (%s)", e.Status)
		} else {
			l.say("connected")
		}
	case event.Fault:
		if e.Attempts == 1 {
			l.say("%s: %v: trying again", e.Doing, e.Err)
		}
	}
}
