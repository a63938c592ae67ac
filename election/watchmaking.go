package election

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// madeWatch is a watch in one part or several: each has one filter.
type madeWatch struct {
	parts      []*natskv.Watch
	reset      protocol.WatchReset
	incomplete int // the parts whose snapshot has not come whole
	// ahead is by how much the server's clock is ahead of ours, as long as records come that may be
	// old; nil: not known.
	ahead *time.Duration
}

// part is what a part delivers, if there is one of that number.
func (m *madeWatch) part(n int) <-chan natskv.Update {
	if len(m.parts) <= n {
		return nil
	}
	return m.parts[n].C()
}

// take says when the snapshot is complete.
func (m *madeWatch) take(u natskv.Update) natskv.Update {
	if u.Snapshot {
		m.incomplete--
		u.Snapshot = m.incomplete == 0
	}
	return u
}

// close ends the watch and does not wait: it may be for a frozen connection.
func (m *madeWatch) close(wg *sync.WaitGroup) {
	if m != nil {
		for _, part := range m.parts {
			wg.Go(part.Close)
		}
	}
}

// making is a watch that was made, or why it was not; neither means that the connection was lost
// meanwhile.
type making struct {
	watch *madeWatch
	err   error
}

// makeBeside makes a watch while the present one continues.
func (w *watcher) makeBeside(patience time.Duration) <-chan making {
	made := make(chan making, 1) // so that nobody has to wait for it
	w.wg.Go(func() {
		watch, err := w.make(patience)
		made <- making{watch, err}
	})
	return made
}

// make makes a watch of what is wanted now.
func (w *watcher) make(patience time.Duration) (*madeWatch, error) {
	select {
	case <-w.turn: // this one is of that
	default:
	}
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	connection := w.nc.Stats().Reconnects
	m := &madeWatch{}
	m.reset, m.ahead = w.inspect(ctx)
	m.reset.Wide, m.reset.Remember = w.wide.Load() > 0, w.asks.Load() > 0
	m.reset.Split, m.reset.OwnIdle = !m.reset.Wide && len(w.filters) > 1, w.own.Load()
	filters := w.selected(m.reset.Wide)
	if m.reset.OwnIdle && !m.reset.Wide {
		filters = append(slices.Clone(filters), w.idle)
	}
	m.incomplete = len(filters)
	for _, filter := range filters {
		part, err := w.bucket.WatchEvery(ctx, w.nc, filter, w.every)
		if err != nil {
			m.close(w.wg)
			return nil, err
		}
		m.parts = append(m.parts, part)
	}
	if err := w.identify(ctx); err != nil {
		m.close(w.wg)
		return nil, err
	}
	if w.nc.Stats().Reconnects != connection { // the watch and the answer may be of two systems
		m.close(w.wg)
		return nil, nil
	}
	return m, nil
}

func (w *watcher) selected(wide bool) []string {
	if wide {
		return []string{record.AllFilter}
	}
	return w.filters
}

// inspect says how far the bucket is. No answer proves nothing: then the watch is made anyway, and
// finds out what is wrong. ahead is by how much the server's clock is ahead of ours, nil without an
// answer.
func (w *watcher) inspect(ctx context.Context) (reset protocol.WatchReset, ahead *time.Duration) {
	// Read before the store is asked, and in this order: what the store shows is of a later time
	// than this, and what is known was known by then.
	reset.Known = w.seen.Load()
	reset.Begun, reset.Last = record.Instant(w.clock.Now().Observer), reset.Known
	ctx, cancel := context.WithTimeout(ctx, watchTimeout/3) // the rest is for the watch
	defer cancel()
	sent := time.Now()
	state, err := w.bucket.Inspect(ctx)
	if err != nil {
		return reset, nil
	}
	by := state.Now.Sub(sent.Add(time.Since(sent) / 2))
	// one that is being moved has others
	reset.Single = state.Replicas == 1 && state.Current+state.Lagging+state.Offline == 0
	reset.Told = reset.Single || state.Leader != ""
	reset.Behind = state.Lagging+state.Offline > 0
	reset.Last = state.LastSeq
	return reset, &by
}

// identify refuses the watch of a bucket that is another one than at the opening. A watch ends with
// its bucket: what the server says about the bucket after it was made holds of the watch, and was
// it made of another one, that one is there by then. Without an answer there is no watch either: a
// process that took the next bucket for this one would keep leading in it by a record that the next
// bucket does not have.
func (w *watcher) identify(ctx context.Context) error {
	err := w.bucket.Identify(ctx, w.nc)
	for errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // one question has its own patience
		err = w.bucket.Identify(ctx, w.nc)
	}
	switch {
	case errors.Is(err, natskv.ErrOtherBucket):
		return err
	case errors.Is(err, nats.ErrPermissionViolation), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("which bucket is being watched: %w", err)
	case err != nil: // what it says about the bucket is for the next watch to find out, which asks twice
		return fmt.Errorf("which bucket is being watched: %v", err)
	}
	return nil
}

const (
	maxPatience = 4 * watchTimeout // so long is nothing seen, too, when the answer was lost with a connection
	// enough is how long a watch has to have lasted for its end to have nothing to do with its
	// making.
	enough = time.Minute
)

// patience is how long the next watch may take to be made. One that was not made in time was not
// because the server or this process has too much to do. Each new one costs the server as much as
// the one before: many members that all had the same patience for good would keep each other from
// ever being served.
type patience time.Duration

// after learns from a watch that lasted so long, its making included, and ended with err. It
// reports whether it came too late.
func (p *patience) after(lasted time.Duration, err error) (late bool) {
	late = errors.Is(err, context.DeadlineExceeded)
	switch {
	case late:
		*p = min(2**p, patience(maxPatience))
	case lasted >= enough:
		*p = patience(watchTimeout)
	}
	return late
}
