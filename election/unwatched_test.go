package election

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAWatchThatIsGivenUpIsNoFault: one that is being made when its owner ends; one that fails
// before is told of.
func TestAWatchThatIsGivenUpIsNoFault(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		nc := natstest.Connect(t, s, link.Options()...)
		bucket, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: "roles"})
		if err != nil {
			t.Fatal(err)
		}
		for after, want := range map[time.Duration]int{time.Second: 0, watchTimeout / 2: 0, watchTimeout + time.Second: 1} {
			link.Hold(natsrun.Both)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			w := newWatcher(ctx, &wg, nc, bucket, clock.System(), []string{record.AllFilter})
			var told []error
			w.note = func(err error, _ int) { told = append(told, err) }
			w.broken = func(err error) { told = append(told, err) }
			wg.Go(w.run)
			time.Sleep(after)
			cancel()
			wg.Wait()
			link.Release()
			if len(told) != want || slices.ContainsFunc(told, func(err error) bool { return errors.Is(err, context.Canceled) }) {
				t.Errorf("given up after %v: %v, want %d faults", after, told, want)
			}
		}
	})
}

// TestAnOpeningThatIsGivenUpIsNoFault: likewise of the bucket.
func TestAnOpeningThatIsGivenUpIsNoFault(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		nc := natstest.Connect(t, s, link.Options()...)
		link.Hold(natsrun.Both)
		defer link.Release()
		for after, want := range map[time.Duration]int{time.Second: 0, 6 * time.Second: 1} {
			var mu sync.Mutex
			var told []error
			session, err := NewSession(SessionConfig{
				Bucket: "roles", InstanceID: "a",
				Sinks: []event.Sink{event.SinkFunc(func(e event.Event) {
					if f, ok := e.(event.Fault); ok {
						mu.Lock()
						defer mu.Unlock()
						told = append(told, f.Err)
					}
				})},
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(after, cancel)
			if err := session.Open(ctx, nc); !errors.Is(err, context.Canceled) {
				t.Errorf("after %v: %v", after, err)
			}
			if err := session.Close(t.Context()); err != nil && !errors.Is(err, ErrClosed) {
				t.Errorf("after %v: %v", after, err)
			}
			mu.Lock()
			if len(told) != want {
				t.Errorf("given up after %v: %v, want %d faults", after, told, want)
			}
			mu.Unlock()
		}
	})
}
