package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
)

// forbidden reports whether the last complaint of the server is that this user may not publish to a subject.
func forbidden(nc *nats.Conn, subject string) bool {
	last := nc.LastError()
	return errors.Is(last, nats.ErrPermissionViolation) && strings.Contains(last.Error(), `"`+subject+`"`)
}

// overview asks the scheduler. A denied question looks like one that nobody answers, but the server complains on the side: then
// nothing is waited for. Errors: errDenied, those of assign.
func overview(ctx context.Context, nc *nats.Conn, c *assign.Client, namespace string) (assign.Overview, error) {
	type answer struct {
		overview assign.Overview
		err      error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan answer, 1)
	go func() {
		o, err := assign.GetOverview(ctx, c)
		answered <- answer{o, err}
	}()
	before, ctl := nc.LastError(), namespace+".ctl"
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case a := <-answered:
			return a.overview, a.err
		case <-look.C:
			if nc.LastError() != before && forbidden(nc, ctl) {
				cancel()
				<-answered
				return assign.Overview{}, fmt.Errorf("%w: to publish to %s", errDenied, ctl)
			}
		}
	}
}

var errDenied = errors.New("permission denied")

// knownWithin bounds the question whether somebody knows a name: what is wanted can be stored without an answer.
const knownWithin = 2 * time.Second

// known asks the scheduler for the names that are known, to tell a name that was mistyped. Without an answer nothing is known.
func (t *taskApp) known(ctx context.Context, c *assign.Client) (o assign.Overview, ok bool) {
	within, cancel := context.WithTimeout(ctx, knownWithin)
	defer cancel()
	o, err := overview(within, t.nc, c, t.namespace)
	return o, err == nil && o.Ready
}

// unasked says that a name was not checked.
func unasked(asked bool, what string) string {
	if asked {
		return ""
	}
	return " (stored; no scheduler answers, so whether there is such a " + what + " is not known)"
}

// strange is an error for a name that nobody knows, with what to do instead.
func strange(what, name, effect string, names []string) error {
	slices.Sort(names)
	there := "there is none"
	if len(names) > 0 {
		there = "there are " + some(names)
	}
	return &failure{exitFailed, fmt.Errorf("no %s %q: %s; give --force to %s all the same", what, name, there, effect)}
}

// knownKind is a kind of which the scheduler knows.
type knownKind struct {
	name   string
	paused bool
}

// knownKinds are those of open tasks, those of workers, and those that are paused.
func knownKinds(o assign.Overview) (kinds []knownKind) {
	seen := map[string]bool{}
	for _, k := range o.Kinds {
		seen[k.Kind] = true
		kinds = append(kinds, knownKind{k.Kind, k.Paused})
	}
	for _, w := range o.Workers {
		for _, name := range w.Kinds {
			if !seen[name] {
				seen[name] = true
				kinds = append(kinds, knownKind{name: name})
			}
		}
	}
	return kinds
}
