package election

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/event"
)

// maxQueued is how many events a reader may lag behind until those that are not important coalesce.
const maxQueued = 4096

// fanout brings events to the sinks, in order, from one goroutine, and to each subscriber from one
// of its own. Neither is waited for: a reader that is slow loses the least important first, and is
// told how many.
type fanout struct {
	mu      sync.Mutex
	feeds   map[*feed]struct{}
	closed  bool
	sinking sync.WaitGroup // the goroutine that calls the sinks
	readers atomic.Int32   // how many feeds there are
}

func newFanout() *fanout { return &fanout{feeds: map[*feed]struct{}{}} }

// sink begins to call the sinks.
func (f *fanout) sink(sinks []event.Sink) {
	if len(sinks) == 0 {
		return
	}
	feed := newFeed()
	f.mu.Lock()
	f.add(feed)
	f.mu.Unlock()
	s := &sinking{f: f, feed: feed, sinks: sinks, next: len(sinks), reported: make([]time.Time, len(sinks))}
	f.sinking.Go(s.run)
}

func (f *fanout) emit(e event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for feed := range f.feeds {
		feed.put(e)
	}
}

// ending reports whether nothing more can be emitted.
func (f *fanout) ending() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *fanout) subscribe(ctx context.Context) <-chan event.Event {
	out := make(chan event.Event)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		close(out)
		return out
	}
	feed := newFeed()
	f.add(feed)
	go func() { // ends with its reader's ctx, or when the reader has what was left
		defer close(out)
		defer f.drop(feed)
		for {
			e, ok := feed.next(ctx)
			if !ok {
				return
			}
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func (f *fanout) add(feed *feed) {
	f.feeds[feed] = struct{}{}
	f.readers.Store(int32(len(f.feeds)))
}

func (f *fanout) drop(feed *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.feeds, feed)
	f.readers.Store(int32(len(f.feeds)))
}

// read reports whether there is anybody to tell. It takes no lock: a caller asks before it makes
// one of the events that come with every task.
func (f *fanout) read() bool { return f.readers.Load() > 0 }

// close lets every reader have what is queued, and ends it. The sinks are waited for, for a while:
// what they are told last is the end.
func (f *fanout) close(patience time.Duration) {
	f.mu.Lock()
	f.closed = true
	for feed := range f.feeds {
		feed.close()
	}
	f.mu.Unlock()
	within(patience, &f.sinking)
}

// feed is the queue of one reader.
type feed struct {
	mu     sync.Mutex
	queue  []event.Event
	lagged uint64
	ready  chan struct{} // cap 1: there is something to read, or it is closed
	closed bool
}

func newFeed() *feed { return &feed{ready: make(chan struct{}, 1)} }

func (f *feed) put(e event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return
	case len(f.queue) >= maxQueued && !important(e):
		f.lagged++
		return
	case f.lagged > 0:
		f.queue = append(f.queue, event.Lagged{Meta: event.MetaOf(e), N: f.lagged})
		f.lagged = 0
	}
	f.queue = append(f.queue, e)
	f.signal()
}

func (f *feed) signal() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

func (f *feed) next(ctx context.Context) (event.Event, bool) {
	for {
		f.mu.Lock()
		if len(f.queue) > 0 {
			e := f.queue[0]
			f.queue[0] = nil
			f.queue = f.queue[1:]
			f.mu.Unlock()
			return e, true
		}
		closed := f.closed
		f.mu.Unlock()
		if closed {
			return nil, false
		}
		select {
		case <-f.ready:
		case <-ctx.Done():
			return nil, false
		}
	}
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.signal()
}

// important events are never left out; there are at most two for each term, and a few for each
// session. Without that the thousands of claims after the kill of a session would crowd out the
// kill.
func important(e event.Event) bool {
	switch e.(type) {
	case event.RolePromoted, event.RoleDemoted,
		event.SessionOpened, event.SessionLost, event.SessionClosed, event.SessionKilled:
		return true
	}
	return false
}

// panicsEvery is how often a sink that keeps panicking is reported.
const panicsEvery = 10 * time.Second

// sinking calls the sinks with the events of a feed, in order. A sink that panics misses an event;
// the others do not.
type sinking struct {
	f     *fanout
	feed  *feed
	sinks []event.Sink

	present  event.Event
	next     int         // of the sinks, to be called with present
	reported []time.Time // when a panic was last reported, by sink
}

// run calls the sinks until the feed ends.
func (s *sinking) run() {
	for more := true; more; {
		if value, stack := rescue(func() { s.call(); more = false }); stack != nil {
			s.panicked(value, stack)
		}
	}
}

// call continues behind the last call that was begun.
func (s *sinking) call() {
	for {
		for s.next < len(s.sinks) {
			s.next++
			s.sinks[s.next-1].Observe(s.present)
		}
		e, ok := s.feed.next(context.Background())
		if !ok {
			return
		}
		s.present, s.next = e, 0
	}
}

// panicked reports the panic as an event. A sink that panics over that event too is reported to the
// log of the program, because it may be the only sink. So is one that panics over the last events.
func (s *sinking) panicked(value any, stack []byte) {
	sink := s.next - 1
	if _, again := s.present.(event.CallbackPanicked); again || s.f.ending() {
		slog.Error("a sink of events panicked", "sink", fmt.Sprintf("%T", s.sinks[sink]), "panic", fmt.Sprint(value), "stack",
			string(stack))
		return
	}
	if time.Since(s.reported[sink]) < panicsEvery {
		return
	}
	s.reported[sink] = time.Now()
	meta := event.MetaOf(s.present)
	meta.Time = time.Now()
	s.f.emit(event.CallbackPanicked{Meta: meta, Callback: "Sink", Value: value, Stack: stack})
}
