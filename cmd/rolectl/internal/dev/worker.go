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
)

// The built-in worker of dev: one member, which hands out the tasks of the namespace and runs two kinds of them, so that a task
// that is submitted by hand comes to its end. It makes room for the first program that hands out tasks there itself: under
// another role each of the two would shut the other out, again and again.
const (
	devTTL   = 3 * time.Second
	devLook  = time.Second           // how often it looks for others
	devMoved = 20 * time.Millisecond // less may be the inexactness of two clock readings; heartbeats are further apart

)

type devWorker struct {
	session   *election.Session
	part      *election.Election
	namespace string
	say       func(format string, args ...any)
	ended     chan struct{}
	seen      map[uint64]time.Time // by session: when the lease of somebody who works here had moved, at first sight
}

// startDevWorker returns when it leads, or when a predecessor that was killed still holds the role.
func startDevWorker(ctx context.Context, nc *nats.Conn, bucket, namespace string, say func(string, ...any)) (w *devWorker, err error) {
	w = &devWorker{namespace: namespace, say: say, ended: make(chan struct{}), seen: map[uint64]time.Time{}}
	w.session, err = election.NewSession(election.SessionConfig{
		Bucket: bucket, InstanceID: inventory.DevMember, TTL: devTTL, Meta: map[string]string{inventory.MetaProgram: inventory.ProgramDev, inventory.MetaVersion: cli.ModuleVersion()},
	})
	if err != nil {
		return nil, err
	}
	tasks, err := assign.New(w.session, assign.Config{Namespace: namespace, Role: inventory.DevMember, StreamAutoCreate: true})
	if err != nil {
		return nil, err
	}
	for name, handler := range map[string]func(context.Context, *assign.Task[[]byte]) ([]byte, error){kindEcho: echoed, kindSleep: slept} {
		kind, err := inventory.RawKind(name)
		if err != nil {
			return nil, err
		}
		if err := assign.Handle(tasks, kind, handler); err != nil {
			return nil, err
		}
	}
	if w.part, err = w.session.Campaign(election.RoleConfig{Role: inventory.DevMember, Lead: tasks.Lead}); err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, 4*devTTL) // over the lease of one that was killed
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

// attend keeps the worker until ctx ends or somebody else hands out the tasks of the namespace, and closes it.
func (w *devWorker) attend(ctx context.Context) {
	defer close(w.ended)
	look := time.NewTicker(devLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-w.session.Done():
			w.say("the built-in worker has ended: %v", w.session.Err())
			return
		case <-look.C:
			other := w.other()
			if other == "" {
				continue
			}
			w.say("%s works in %s by itself: the built-in worker leaves, and does not come back", other, w.namespace)
		}
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), bridge.ClosesWithin(w.session))
		defer cancel()
		if err := w.session.Close(closing); err != nil {
			w.say("the built-in worker: %v", err)
		}
		return
	}
}

// other is a member that works in the namespace and could lead, "" for none. One that was there before us may have died with the
// server: it counts when its lease has moved.
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

// wait returns when it has ended; ctx of its start must end first.
func (w *devWorker) wait() { <-w.ended }
