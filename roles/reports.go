package roles

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsconn"
)

// reports are everything that the manager logs: the events of its session and the reports of its
// own connection.
type reports struct {
	log     *logSink // nil for no log
	session *election.Session
	away    atomic.Pointer[error] // why the last attempt to connect failed
	told    chan struct{}         // size 1: away was set
}

// before puts the log in front of the user's sinks, so that the line of an event is above the lines
// that a sink writes. All of them hear why there is no connection.
func (r *reports) before(sinks []event.Sink) (all []event.Sink) {
	if r.log != nil {
		all = append(all, event.Sink(r))
	}
	for _, s := range sinks {
		if s == nil {
			all = append(all, nil) // the session refuses it
			continue
		}
		all = append(all, event.SinkFunc(func(e event.Event) { s.Observe(r.explained(e)) }))
	}
	return all
}

// Observe logs an event.
func (r *reports) Observe(e event.Event) { r.log.Observe(r.explained(e)) }

// unreached notes why an attempt to connect failed. The connection itself does not report that.
func (r *reports) unreached(err error) {
	err = certified(err)
	r.away.Store(&err)
	select {
	case r.told <- struct{}{}:
	default:
	}
}

// credentialsFix is what to do when servers refuse the credentials.
const credentialsFix = "set credentials in Config.NATSOptions, such as nats.UserInfo or nats.UserCredentials"

// awaitReason waits until the reason is known why the first attempt to connect failed. nats.go
// reports the reason a moment after it has returned.
func (r *reports) awaitReason() {
	select {
	case <-r.told:
	case <-time.After(reasonWithin): // an option of the user has replaced the handler
	}
}

// reason is why the last attempt to connect failed, nil if that is unknown.
func (r *reports) reason() error {
	if err := r.away.Load(); err != nil {
		return *err
	}
	return nil
}

const reasonWithin = 100 * time.Millisecond

// explained adds the reason to the report that there is no connection, and how to fix credentials
// that are refused.
func (r *reports) explained(e event.Event) event.Event {
	fault, ok := e.(event.Fault)
	if up, is := e.(event.ConnectionChanged); is && up.Connected {
		r.away.Store(nil)
	}
	missing := (*election.NotConnectedError)(nil)
	if !ok || !errors.As(fault.Err, &missing) {
		return e
	}
	reason, more := missing.Err, false
	if away := r.away.Load(); reason == nil && away != nil {
		reason, more = *away, true
	}
	if natsconn.Refused(reason) {
		reason, more = fmt.Errorf("%w: %s", reason, credentialsFix), true
	}
	if more {
		fault.Err = &election.NotConnectedError{Servers: missing.Servers, Err: reason}
	}
	return fault
}

// fault reports what is wrong beside the session: with the list of servers, or systemd. Before the
// session opens, the sinks hear nothing yet, and the log alone tells.
func (r *reports) fault(doing string, err error) {
	if bridge.Number(r.session) != 0 {
		bridge.Fault(r.session, doing, err)
	} else if r.log != nil {
		r.log.Observe(event.Fault{Meta: event.Meta{
			Time: time.Now(), Bucket: r.session.Bucket(), Instance: r.session.Instance(),
		}, Doing: doing, Err: err, Attempts: 1})
	}
}

// mayAsk is asked only to say where a missing bucket could be. A session that needs the answer
// returns the refusal.
const mayAsk = `"$JS.API.INFO"`

// complaint logs an error that the server or nats.go reports about the manager's own connection.
// A user that may not ask mayAsk has no fault: beside the error about the bucket it would mislead.
func (r *reports) complaint(err error) {
	if r.log == nil || errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), mayAsk) {
		return
	}
	l := at(slog.LevelWarn, "NATS reported an error", failure(err))
	l.repeats = l.message + " " + err.Error()
	r.log.say(l, event.Meta{
		Time: time.Now(), Bucket: r.session.Bucket(), Instance: r.session.Instance(), Session: bridge.Number(r.session),
	})
}
