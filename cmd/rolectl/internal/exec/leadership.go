package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/systemd"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// leadership is one run of exec: its part in the election, and the command while it leads.
type leadership struct {
	execOptions
	a       *cli.App
	path    string
	args    []string
	program []string // the command line that starts the guard
	session *election.Session
	signals <-chan os.Signal // for the command
	systemd *systemd.Notifier

	stopping context.Context // ends when this process is told to stop
	began    chan struct{}   // cap 1: it leads, or has led
	working  atomic.Bool     // the work of a term has begun and not returned
	outcome  chan error      // cap 1: the first outcome counts; nil is exit code 0
}

// lead contends for a role until the command has ended for good.
func lead(ctx context.Context, a *cli.App, role, path string, args []string, o execOptions) error {
	signals, unsubscribe := stopSignals()
	defer unsubscribe()
	forCommand, done := passedOn()
	defer done()
	self, err := thisProgram()
	if err != nil {
		return fmt.Errorf("find this program, which is also the guard: %w", err)
	}
	target, err := a.Settings.Resolve()
	if err != nil {
		return cli.UsageError(err)
	}
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	l := &leadership{
		execOptions: o, a: a, path: path, args: args, program: []string{self, guardName}, signals: forCommand,
		stopping: stopping, began: make(chan struct{}, 1), outcome: make(chan error, 1),
	}
	cfg := o.session(a.Bucket)
	cfg.Domain, cfg.APIPrefix = target.Domain, target.APIPrefix
	cfg.Sinks = []event.Sink{event.SinkFunc(l.observe)}
	if l.systemd = systemd.New(func(err error) { l.say("%s", wording.Plain(err)) }); l.systemd != nil {
		cfg.Sinks = append(cfg.Sinks, l.systemd)
	}
	part := o.role(role)
	part.Lead = l.work
	if l.session, err = election.NewSession(cfg); err != nil {
		return cli.UsageError(err)
	}
	e, err := l.session.Campaign(part)
	if err != nil {
		return cli.UsageError(err)
	}
	l.systemd.Start(func() { l.session.Role(role) })
	defer l.systemd.Stop()
	if err := openSession(ctx, a, l.session); err != nil {
		return err
	}
	if err := e.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.say("%s contends for %s", l.session.Instance(), role)
	err = l.attend(role, signals, stop)
	l.systemd.Drain()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.Target.Timeout)
	defer cancel()
	if left := l.session.Close(closing); left != nil && err == nil {
		l.say("the role is held until the lease runs out: %s", wording.Plain(left))
	}
	return err
}

// thisProgram returns the path of this program. It works even if the file was replaced while it
// runs.
func thisProgram() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// attend waits until exec ends, and returns its outcome.
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
			if len(l.began) > 0 { // both at once: this process leads
				continue
			}
			leader := l.leader(role)
			if leader == "" && !extended { // the role is free, and this process is about to claim it
				extended, patience = true, time.After(l.claimWithin())
				continue
			}
			if leader == "" {
				leader = "nobody"
			}
			return cli.ExitWith(cli.ExitNoLeader, fmt.Errorf("not elected within %v: %s leads %s", l.wait, leader, role))
		case s := <-signals:
			l.systemd.Drain()
			stop()
			if !l.working.Load() { // work that has not begun sees that it must not
				return cli.ExitCode(128 + int(s.(syscall.Signal)))
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

// claimWithin is how long claiming a free role may take: a heartbeat, a write, and a few attempts.
func (l *leadership) claimWithin() time.Duration { return max(l.session.Config().TTL, 2*time.Second) }

// leader returns the leader of a role as this session sees it.
func (l *leadership) leader(role string) string {
	r, _ := l.session.Role(role)
	return r.Leader
}

// say reports progress. It names rolectl, because the command may write to the same terminal.
func (l *leadership) say(format string, args ...any) {
	if l.quiet {
		return
	}
	if l.a.Format != "json" {
		format = "rolectl: " + format
	}
	l.a.Say(format, args...)
}

// observe reports what happens to the connection. The work reports what happens to the role.
func (l *leadership) observe(e event.Event) {
	switch e := e.(type) {
	case event.ConnectionChanged:
		if !e.Connected {
			l.say("no connection (%s)", e.Status)
		} else {
			l.say("connected")
		}
	case event.Fault:
		if wait := (*election.WaitError)(nil); errors.As(e.Err, &wait) {
			l.say("%s", wording.Plain(e.Err))
		} else if e.Attempts == 1 {
			l.say("%s: %s: trying again", e.Doing, wording.Plain(e.Err))
		}
	}
}
