package election

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rolemanager/rolemanager/event"
)

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
