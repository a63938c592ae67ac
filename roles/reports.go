package roles

import (
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// reports are what the manager logs: the events of its session, and what its own connection says beside them.
type reports struct {
	log     *logSink // nil for nowhere
	session *election.Session
	away    atomic.Pointer[error] // why the last attempt to connect failed
	told    chan struct{}         // size 1: away was set
}

// before puts the log in front of the sinks of the user: what one of them does is below the line that says what happened.
func (r *reports) before(sinks []event.Sink) []event.Sink {
	if r.log == nil {
		return sinks
	}
	return slices.Insert(slices.Clone(sinks), 0, event.Sink(r))
}

// Observe logs an event.
func (r *reports) Observe(e event.Event) { r.log.Observe(r.explained(e)) }

// unreached takes why an attempt to connect failed. The connection keeps that to itself.
func (r *reports) unreached(err error) {
	r.away.Store(&err)
	select {
	case r.told <- struct{}{}:
	default:
	}
}

// awaitReason waits until the first attempt to connect has said why it failed: nats.go tells a moment later than it returns.
func (r *reports) awaitReason() {
	select {
	case <-r.told:
	case <-time.After(reasonWithin): // an option of the user's has taken the handler
	}
}

const reasonWithin = 100 * time.Millisecond

// explained adds to the report of a missing connection why it could not be made.
func (r *reports) explained(e event.Event) event.Event {
	fault, ok := e.(event.Fault)
	if up, is := e.(event.ConnectionChanged); is && up.Connected {
		r.away.Store(nil)
	}
	reason := r.away.Load()
	if missing := (*election.NotConnectedError)(nil); ok && reason != nil && errors.As(fault.Err, &missing) && missing.Err == nil {
		fault.Err = &election.NotConnectedError{Servers: missing.Servers, Err: *reason}
		return fault
	}
	return e
}

// complaint logs what the server, or nats.go, has to say of the manager's own connection.
func (r *reports) complaint(err error) {
	if r.log == nil {
		return
	}
	l := at(slog.LevelWarn, "NATS reported an error", failure(err))
	l.repeats = l.message + " " + err.Error()
	r.log.say(l, event.Meta{
		Time: time.Now(), Bucket: r.session.Bucket(), Instance: r.session.Instance(), Session: bridge.Number(r.session),
	})
}
