package assign

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// page is a part of the stream, in order.
type page struct {
	entries  []natskv.Entry
	complete bool  // all that stood in the stream when the reading began has come
	err      error // the reading has ended
}

// read reads the stream with a consumer: the last record of every subject, and then every later one. When the consumer is
// lost, the next one goes on behind what was read: nothing is read twice, and nothing is left out.
func (l *scheduling) read(ctx context.Context) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	var last uint64
	for ctx.Err() == nil {
		before := last
		err := l.readOn(ctx, &last)
		if ctx.Err() != nil {
			return
		}
		if natskv.Permanent(err) || errors.Is(err, ErrRecreated) || errors.Is(err, ErrStreamNotFound) {
			l.put(ctx, page{err: err})
			return
		}
		if last != before {
			pace.Reset()
		}
		select {
		case <-time.After(pace.NextBackOff()):
		case <-ctx.Done():
		}
	}
}

func (l *scheduling) readOn(ctx context.Context, last *uint64) error {
	within, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	from := uint64(0)
	if *last > 0 {
		from = *last + 1
		cfg := l.a.cfg.client()
		cfg.StreamAutoCreate = false
		if s, err := openStream(within, l.nc, cfg); err != nil {
			return err
		} else if !s.Created().Equal(l.stream.Created()) {
			return ErrRecreated
		}
	}
	w, err := l.stream.Watch(within, l.nc, nil, from)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		select {
		case u, ok := <-w.C():
			if !ok {
				return w.Err()
			}
			if !l.put(ctx, page{entries: u.Entries, complete: u.Snapshot}) {
				return nil
			}
			if n := len(u.Entries); n > 0 {
				*last = u.Entries[n-1].Revision
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *scheduling) put(ctx context.Context, p page) bool {
	select {
	case l.pages <- p:
		return true
	case <-ctx.Done():
		return false
	}
}

// turn tells the books what a page says.
func (l *scheduling) turn(p page) error {
	if p.err != nil {
		return p.err
	}
	for i := range p.entries {
		l.tell(&p.entries[i])
	}
	if p.complete {
		l.step(tasks.CaughtUp{})
	}
	return nil
}

// ignored reports a record that says nothing to us. It is left as it is.
func (l *scheduling) ignored(e *natskv.Entry, err error) {
	l.emit(event.RecordIgnored{Meta: l.h.Meta(), Key: l.a.sub.prefix + e.Key, Reason: err.Error()})
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
