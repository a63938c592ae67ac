package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// reader gives the loop the stream: one watch, and another one after that has ended.
type reader struct {
	*term
	loop
	applier   *applier
	announcer *announcer

	watches chan *natskv.Watch // to be read to its end, after the previous one
	ended   chan uint64        // the last revision that was read, when a watch has ended; size 1
	failed  chan error         // no other watch follows; size 1

	watch   *natskv.Watch        // the present one, or the last one
	updates <-chan natskv.Update // of the present one, nil for none
	last    uint64
}

func newReader(t *term, l loop, a *applier, n *announcer) *reader {
	return &reader{
		term: t, loop: l, applier: a, announcer: n,
		watches: make(chan *natskv.Watch), ended: make(chan uint64, 1), failed: make(chan error, 1),
	}
}

// run keeps a watch over the stream: the last record of every subject, and then every later one.
// When a watch is lost, the next one continues after the last record that was read: nothing is read
// twice, and nothing is left out.
func (r *reader) run(ctx context.Context) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	var last uint64
	attempts := 0 // in a row that have read nothing
	for ctx.Err() == nil {
		before := last
		err := r.readOn(ctx, &last)
		if ctx.Err() != nil {
			return
		}
		if natskv.Permanent(err) || errors.Is(err, taskerr.ErrStreamNotFound) {
			r.failed <- err
			return
		}
		if attempts++; last != before {
			pace.Reset()
			attempts = 0
		}
		if err == nil { // reread has stopped it
			err = errStopped
		}
		if attempts > 1 && natsconn.Soon(r.conn.IsConnected, false) { // else the cause is known
			r.emit(event.Fault{Meta: r.host.Meta(), Doing: "read the tasks", Err: err, Attempts: attempts})
		}
		select {
		case <-time.After(pace.NextBackOff()):
		case <-ctx.Done():
		}
	}
}

// readOn gives the loop one watch, and waits for its end.
func (r *reader) readOn(ctx context.Context, last *uint64) error {
	within, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	from := uint64(0)
	if *last > 0 {
		from = *last + 1
		cfg := r.cfg.Stream
		cfg.AutoCreate = false
		if _, err := stream.Open(within, r.conn, cfg); err != nil {
			return err
		}
	}
	w, err := r.stream.Watch(within, r.conn, "", from)
	if err != nil {
		return err
	}
	defer w.Close()
	select {
	case r.watches <- w:
	case <-ctx.Done():
		return nil
	}
	select {
	case *last = <-r.ended:
		return w.Err()
	case <-ctx.Done():
		return nil
	}
}

// errStopped is the end of a watch that the loop has stopped.
var errStopped = errors.New("the records that were read lag behind the stream")

// follow makes w the present watch.
func (r *reader) follow(w *natskv.Watch) { r.watch, r.updates = w, w.C() }

// reread ends the present watch: the next one may come from a replica that does not lag.
func (r *reader) reread() {
	if r.updates != nil {
		r.watch.Stop()
	}
}

// update gives the rules the records of one update of the watch; ok is false when the watch has
// ended.
func (r *reader) update(u natskv.Update, ok bool) {
	if !ok {
		r.updates = nil
		r.ended <- r.last
		return
	}
	for i := range u.Entries {
		r.applier.applyRecord(&u.Entries[i])
		r.last = u.Entries[i].Revision
	}
	if u.Snapshot {
		r.step(tasks.CaughtUp{})
		r.announcer.begin()
	}
}
