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

// reading is how the loop comes by the stream: a watch, and the next one when it has ended.
type reading struct {
	watches chan *natskv.Watch // to be read to its end, after the one before
	ended   chan uint64        // the last revision that was read, when a watch has ended; size 1
	failed  chan error         // there will be no other watch; size 1

	watch   *natskv.Watch        // the present one, or the last one
	updates <-chan natskv.Update // of the present one, nil for none
	last    uint64
}

func newReading() reading {
	return reading{watches: make(chan *natskv.Watch), ended: make(chan uint64, 1), failed: make(chan error, 1)}
}

// read keeps a watch over the stream: the last record of every subject, and then every later one. When it is lost, the next one
// goes on behind what was read: nothing is read twice, and nothing is left out.
func (l *scheduler) read(ctx context.Context) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	var last uint64
	attempts := 0 // in a row that have read nothing
	for ctx.Err() == nil {
		before := last
		err := l.readOn(ctx, &last)
		if ctx.Err() != nil {
			return
		}
		if natskv.Permanent(err) || errors.Is(err, taskerr.ErrRecreated) || errors.Is(err, taskerr.ErrStreamNotFound) {
			l.reading.failed <- err
			return
		}
		if attempts++; last != before {
			pace.Reset()
			attempts = 0
		}
		if err == nil { // somebody has stopped it
			err = errStopped
		}
		if attempts > 1 && natsconn.Soon(l.nc.IsConnected, false) { // else that is known
			l.emit(event.Fault{Meta: l.h.Meta(), Doing: "read the tasks", Err: err, Attempts: attempts})
		}
		select {
		case <-time.After(pace.NextBackOff()):
		case <-ctx.Done():
		}
	}
}

// readOn gives the loop one watch, and waits for its end.
func (l *scheduler) readOn(ctx context.Context, last *uint64) error {
	within, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	from := uint64(0)
	if *last > 0 {
		from = *last + 1
		cfg := l.cfg.Stream
		cfg.AutoCreate = false
		if s, err := stream.Open(within, l.nc, cfg); err != nil {
			return err
		} else if !s.Created().Equal(l.stream.Created()) {
			return taskerr.ErrRecreated
		}
	}
	w, err := l.stream.Watch(within, l.nc, nil, from)
	if err != nil {
		return err
	}
	defer w.Close()
	select {
	case l.reading.watches <- w:
	case <-ctx.Done():
		return nil
	}
	select {
	case *last = <-l.reading.ended:
		return w.Err()
	case <-ctx.Done():
		return nil
	}
}

// errStopped is what a watch has ended with that the loop has stopped.
var errStopped = errors.New("what was read lags behind the stream")

// reread ends the present watch: the next one may be of a replica that does not lag.
func (r *reading) reread() {
	if r.updates != nil {
		r.watch.Stop()
	}
}

// turn tells the books what a watch says.
func (l *scheduler) turn(u natskv.Update, ok bool) {
	r := &l.reading
	if !ok {
		r.updates = nil
		r.ended <- r.last
		return
	}
	for i := range u.Entries {
		l.tell(&u.Entries[i])
		r.last = u.Entries[i].Revision
	}
	if u.Snapshot {
		l.step(tasks.CaughtUp{})
		l.announcer.begin()
	}
}

// ignored reports a record that says nothing to us. It is left as it is.
func (l *scheduler) ignored(e *natskv.Entry, err error) {
	l.emit(event.RecordIgnored{Meta: l.h.Meta(), Key: l.sub.Prefix + e.Key, Reason: err.Error()})
}
