package election

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// watchTimeout bounds the making of one watch, until that proves to be too little.
const watchTimeout = 5 * time.Second

// batch is a run of events that the watch has delivered. A slow loop makes the watch wait, and the
// server with it.
type batch struct {
	events   []protocol.Event
	snapshot bool // the snapshot is complete with these
	// ages are for how long the records of a snapshot had been stored when they came, by the
	// server's clock; nil when they are new, or the server's time is not known.
	ages []time.Duration
}

// age is for how long the record of an event had been stored when it came.
func (b batch) age(event int) time.Duration {
	if event < len(b.ages) {
		return b.ages[event]
	}
	return 0
}

// news reports whether the batch has delivered what somebody may wait for: a snapshot, the begin or
// the end of a lease, a record that is not a lease. One that we know already, because we wrote it,
// counts: its delivery proves that what came before it has been seen.
func (b batch) news() bool {
	return b.snapshot || slices.ContainsFunc(b.events, func(ev protocol.Event) bool {
		e, ok := ev.(protocol.Delivered)
		return ok && (e.Kind != record.KindLease || e.Form != record.FormRecord || !e.Lease.Alive() || e.Lease.Session == 0)
	})
}

// watcher keeps one watch going: it makes a new one whenever the machine asks, the connection comes
// back or the present one ends, and decodes what comes, so that the loop need not.
type watcher struct {
	nc      *nats.Conn
	bucket  *natskv.Bucket
	clock   clock.Clock
	filters []string                      // one or two: each has a watch of its own
	broken  func(error)                   // a fault that no new watch will fix
	note    func(err error, attempts int) // a fault that a new watch may fix

	ctx  context.Context
	wg   *sync.WaitGroup
	out  chan batch
	wake chan struct{} // a new watch is wanted; one token says it
	wide atomic.Int32  // how many want the whole bucket
	seen atomic.Uint64 // the highest revision that the receiver of the batches has seen, here or in an acknowledgement
}

func newWatcher(
	ctx context.Context, wg *sync.WaitGroup, nc *nats.Conn, bucket *natskv.Bucket, c clock.Clock, filters []string,
) *watcher {
	return &watcher{
		ctx: ctx, wg: wg, nc: nc, bucket: bucket, clock: c, filters: filters, out: make(chan batch),
		wake: make(chan struct{}, 1),
	}
}

// rebuild asks for a new watch and does not wait for it.
func (w *watcher) rebuild() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// widen makes the watch carry every key, until the returned function is called.
func (w *watcher) widen() (narrow func()) {
	w.wide.Add(1)
	w.rebuild()
	return func() {
		w.wide.Add(-1)
		w.rebuild()
	}
}

func (w *watcher) run() {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.Multiplier, pace.MaxInterval, pace.RandomizationFactor = 50*time.Millisecond, 2,
		5*time.Second, 0.1
	patience := patience(watchTimeout)
	for attempts := 0; w.ctx.Err() == nil; {
		began := time.Now()
		err := w.once(time.Duration(patience))
		if w.ctx.Err() != nil {
			return // what it failed with is that
		}
		if natskv.Permanent(err) {
			w.broken(public(err))
			return
		}
		lasted := time.Since(began)
		if late := patience.after(lasted, err); !late && lasted > pace.MaxInterval {
			pace.Reset()
			attempts = 0
		}
		if err != nil {
			attempts++
			w.note(err, attempts)
			w.pause(pace.NextBackOff())
		}
	}
}

// pause waits before the next attempt; a wish for a new watch (the connection is back) ends it at
// once.
func (w *watcher) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.wake:
	case <-w.ctx.Done():
	}
}

// once makes a watch with that patience, and passes on what it delivers, until it ends or a new one
// is wanted.
func (w *watcher) once(patience time.Duration) error {
	select {
	case <-w.wake: // this one is new
	default:
	}
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	connection := w.nc.Stats().Reconnects
	reset, ahead := w.inspect(ctx)
	reset.Wide = w.wide.Load() > 0
	filters := w.selected(reset.Wide)
	reset.Split = len(filters) > 1
	watches := make([]*natskv.Watch, len(filters))
	for i, filter := range filters {
		watch, err := w.bucket.Watch(ctx, w.nc, filter)
		if err != nil {
			return err
		}
		defer w.wg.Go(watch.Close) // it may wait for a frozen connection, so not here
		watches[i] = watch
	}
	if err := w.identify(ctx); err != nil {
		return err
	}
	if w.nc.Stats().Reconnects != connection {
		return nil // the watch and the answer may be of two systems
	}
	return w.pass(watches, reset, ahead)
}

// pass passes on what the watches deliver, until one ends. The snapshot is complete when that of
// each one is.
func (w *watcher) pass(watches []*natskv.Watch, reset protocol.WatchReset, ahead *time.Duration) error {
	if !w.send(batch{events: []protocol.Event{reset}}) {
		return nil
	}
	var own <-chan natskv.Update
	if len(watches) > 1 {
		own = watches[1].C()
	}
	for incomplete := len(watches); ; {
		var u natskv.Update
		var ok bool
		from := watches[0]
		select {
		case u, ok = <-watches[0].C():
		case u, ok = <-own:
			from = watches[1]
		case <-w.wake:
			return nil
		case <-w.ctx.Done():
			return nil
		}
		if !ok {
			return from.Err()
		}
		if u.Snapshot {
			incomplete--
			u.Snapshot = incomplete == 0
		}
		if !w.send(w.decode(u, ahead)) {
			return nil
		}
		if u.Snapshot {
			ahead = nil
		}
	}
}

// decode reads an update. ahead is by how much the server's clock is ahead of ours, nil when the
// ages do not matter or cannot be told.
func (w *watcher) decode(u natskv.Update, ahead *time.Duration) batch {
	b := batch{events: make([]protocol.Event, 0, len(u.Entries)+1), snapshot: u.Snapshot}
	for _, e := range u.Entries {
		entry := record.Decode(e.Key, e.Value, e.Revision, e.Marker, w.bucket.MaxTTL())
		if entry.Kind == record.KindOther {
			continue
		}
		b.events = append(b.events, protocol.Delivered{Entry: &entry})
		if ahead != nil {
			b.ages = append(b.ages, max(time.Since(e.Time.Add(-*ahead)), 0)) // its clock may step
		}
	}
	if u.Snapshot {
		b.events = append(b.events, protocol.SnapshotDone{})
	}
	return b
}

func (w *watcher) send(b batch) bool {
	select {
	case w.out <- b:
		return true
	case <-w.ctx.Done():
		return false
	}
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
