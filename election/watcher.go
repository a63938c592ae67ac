package election

import (
	"context"
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
// the end of a lease, a record that is neither a lease nor an idle beat. One that we know already,
// because we wrote it, counts: its delivery proves that what came before it has been seen.
func (b batch) news() bool {
	return b.snapshot || slices.ContainsFunc(b.events, func(ev protocol.Event) bool {
		e, ok := ev.(protocol.Delivered)
		switch {
		case !ok || e.Kind == record.KindIdle:
			return false
		case e.Kind == record.KindLease && e.Form == record.FormRecord && e.Lease.Alive():
			return e.Lease.Session == 0
		}
		return true
	})
}

// watcher keeps one watch going: it makes a new one whenever the machine asks, the connection comes
// back or the present one ends, and decodes what comes, so that the loop need not.
type watcher struct {
	nc      *nats.Conn
	bucket  *natskv.Bucket
	clock   clock.Clock
	filters []string                      // one or two: each has a watch of its own
	idle    string                        // where our own idle beats lie
	broken  func(error)                   // a fault that no new watch will fix
	note    func(err error, attempts int) // a fault that a new watch may fix

	ctx  context.Context
	wg   *sync.WaitGroup
	out  chan batch
	wake chan struct{} // a new watch is wanted; one token says it
	turn chan struct{} // the same, and the present one continues until then
	wide atomic.Int32  // how many want the whole bucket
	own  atomic.Bool   // our own idle beats are wanted
	asks atomic.Int32  // how many of them are to ask which leases it has shown
	// every is how often the server says that it has nothing to deliver, 0 for the usual.
	every time.Duration
	seen  atomic.Uint64 // the highest revision that the receiver of the batches has seen, here or in an acknowledgement
}

func newWatcher(
	ctx context.Context, wg *sync.WaitGroup, nc *nats.Conn, bucket *natskv.Bucket, c clock.Clock, filters []string,
) *watcher {
	return &watcher{
		ctx: ctx, wg: wg, nc: nc, bucket: bucket, clock: c, filters: filters, out: make(chan batch),
		wake: make(chan struct{}, 1), turn: make(chan struct{}, 1),
	}
}

// rebuild asks for a new watch and does not wait for it.
func (w *watcher) rebuild() { signal(w.wake) }

// signal leaves a token, if there is none.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// suit makes the watch carry what the machine wants now, and not what it wanted before.
func (w *watcher) suit(was, wants protocol.Widen) {
	if wants.All != was.All {
		delta := int32(1)
		if was.All {
			delta = -1
		}
		w.wide.Add(delta)
	}
	w.own.Store(wants.OwnIdle)
	signal(w.turn)
}

// widen makes the watch carry every key, until the returned function is called. The present watch
// continues until the next one is made.
func (w *watcher) widen() (narrow func()) {
	w.wide.Add(1)
	signal(w.turn)
	return func() {
		w.wide.Add(-1)
		signal(w.turn)
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
// is wanted. One that is to carry other keys is made beside it, and takes its place.
func (w *watcher) once(patience time.Duration) error {
	select {
	case <-w.wake: // this one is new
	default:
	}
	present, err := w.make(patience)
	for present != nil && err == nil {
		present, err = w.pass(present, patience)
	}
	return err
}

// turnAgain is how long after a watch beside the present one was not made the next attempt is.
const turnAgain = time.Second

// pass passes on what a watch delivers, until it ends or the one that was made beside it takes its
// place. The snapshot is complete when that of each part is.
func (w *watcher) pass(present *madeWatch, patience time.Duration) (next *madeWatch, err error) {
	defer present.close(w.wg)
	if !w.send(batch{events: []protocol.Event{present.reset}}) {
		return nil, nil
	}
	var beside <-chan making
	defer func() { // what comes too late is of no use
		if late := beside; late != nil {
			w.wg.Go(func() { (<-late).watch.close(w.wg) })
		}
	}()
	turn := w.turn
	var again <-chan time.Time
	for {
		var u natskv.Update
		var ok bool
		from := present.parts[0]
		select {
		case u, ok = <-from.C():
		case u, ok = <-present.part(1):
			from = present.parts[1]
		case u, ok = <-present.part(2):
			from = present.parts[2]
		case <-turn:
			turn, beside = nil, w.makeBeside(patience)
			continue
		case <-again:
			again, beside = nil, w.makeBeside(patience)
			continue
		case made := <-beside:
			beside = nil
			switch {
			case made.watch != nil:
				return made.watch, nil
			case natskv.Permanent(made.err):
				return nil, made.err
			case made.err != nil && w.ctx.Err() == nil:
				w.note(made.err, 1)
			}
			again = time.After(turnAgain)
			continue
		case <-w.wake:
			return nil, nil
		case <-w.ctx.Done():
			return nil, nil
		}
		if !ok {
			return nil, from.Err()
		}
		ahead := present.ahead
		if u = present.take(u); u.Snapshot {
			present.ahead = nil
		}
		if !w.send(w.decode(u, ahead)) {
			return nil, nil
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
