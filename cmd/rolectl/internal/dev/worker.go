package dev

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// The built-in worker of dev is one member. It hands out the tasks of the namespace, and runs two
// kinds of tasks, so that a task that a user submits by hand ends. It leaves when another program
// hands out tasks in the namespace: two schedulers under different roles would shut each other out
// again and again.
const (
	devTTL   = 3 * time.Second
	devLook  = time.Second           // how often it looks for another program
	devMoved = 20 * time.Millisecond // two readings of a clock differ by less; heartbeats are further apart

)

type devWorker struct {
	session   *election.Session
	part      *election.Election
	nc        *nats.Conn
	bucket    string
	namespace string
	say       func(format string, args ...any)
	ended     chan struct{}
	seen      map[uint64]time.Time // by session of a member that works here: when its lease last moved, as first seen
}

// startDevWorker opens the session of the worker, and starts to contend for its role.
func startDevWorker(ctx context.Context, nc *nats.Conn, bucket, namespace string,
	say func(string, ...any),
) (w *devWorker, err error) {
	w = &devWorker{
		nc: nc, bucket: bucket, namespace: namespace, say: say, ended: make(chan struct{}),
		seen: map[uint64]time.Time{},
	}
	w.session, err = election.NewSession(election.SessionConfig{
		Bucket: bucket, InstanceID: findings.DevMember, TTL: devTTL,
		Meta: map[string]string{findings.MetaProgram: findings.ProgramDev, findings.MetaVersion: cli.ModuleVersion()},
	})
	if err != nil {
		return nil, err
	}
	tasks, err := assign.New(w.session, assign.Config{
		Namespace: namespace, Role: findings.DevMember,
		StreamAutoCreate: true,
	})
	if err != nil {
		return nil, err
	}
	for name, handler := range map[string]func(context.Context, *assign.Task[[]byte]) ([]byte, error){
		kindEcho:  echoed,
		kindSleep: slept,
	} {
		kind, err := inventory.RawKind(name)
		if err != nil {
			return nil, err
		}
		if err := assign.Handle(tasks, kind, handler); err != nil {
			return nil, err
		}
	}
	if w.part, err = w.session.Campaign(election.RoleConfig{Role: findings.DevMember, Lead: tasks.Lead}); err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, 4*devTTL) // the lease of a killed predecessor must run out first
	defer cancel()
	if err := w.session.Open(opening, nc); err != nil {
		return nil, err
	}
	if err := w.part.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, errors.Join(err, w.session.Close(ctx))
	}
	go w.attend(ctx) // joined by wait
	return w, nil
}

// attend keeps the worker until ctx ends or another program hands out the tasks of the namespace.
// Then it closes the worker.
func (w *devWorker) attend(ctx context.Context) {
	defer close(w.ended)
	look := time.NewTicker(devLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-w.session.Done():
			w.say("the built-in worker has ended: %s", wording.Plain(w.session.Err()))
			return
		case <-look.C:
			other := w.other()
			if other == "" {
				continue
			}
			w.say("%s works in %s too: the built-in worker leaves for good", other, w.namespace)
		}
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), bridge.ClosesWithin(w.session))
		defer cancel()
		err := w.session.Close(closing)
		if err == nil && ctx.Err() == nil { // nobody is to lead that role again, and nobody need ask why
			if err = w.removeRole(ctx); ctx.Err() != nil {
				return // dev ends meanwhile
			}
		}
		if err != nil {
			w.say("the built-in worker: %s", wording.Plain(err))
		}
		return
	}
}

// removeRole takes the role of the worker out of the bucket as soon as that may be done, unless ctx
// ends before: a role is kept until nobody can believe to lead it. See Observer.Remove.
func (w *devWorker) removeRole(ctx context.Context) error {
	o, err := election.Observe(ctx, w.nc, w.bucket)
	if err != nil {
		return err
	}
	defer o.Close()
	for {
		err := o.Remove(ctx, findings.DevMember)
		var kept *election.RoleKeptError
		switch {
		case errors.Is(err, election.ErrUnknownRole):
			return nil
		case !errors.As(err, &kept):
			return err
		case kept.Reason == election.KeptWanted:
			return nil // another one has begun to work
		}
		select {
		case <-ctx.Done():
			return nil // a role that is left expires within a day
		case <-time.After(max(kept.Wait, devLook)):
		}
	}
}

// other returns a member that works in the namespace and could lead, "" if there is none. A member
// with an older session may have died together with the server: it counts only when its lease
// moves.
func (w *devWorker) other() string {
	for _, m := range w.session.Members() {
		if _, works := m.Assign[w.namespace]; !works || m.WorkerOnly || m.Instance == w.session.Instance() {
			continue
		}
		moved := time.Now().Add(-m.LastSeen)
		first, known := w.seen[m.Session]
		if !known {
			w.seen[m.Session] = moved
		}
		if m.Session > bridge.Number(w.session) || known && moved.Sub(first) > devMoved {
			return m.Instance
		}
	}
	return ""
}

// wait returns when the worker has ended. The context of its start must end first.
func (w *devWorker) wait() { <-w.ended }
