package assign_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestToEndAnAttemptThatStoresIsNoFault: a try that fails before is told of. That the object is
// stored is not acknowledged.
func TestToEndAnAttemptThatStoresIsNoFault(t *testing.T) {
	for after, want := range map[time.Duration]int{10 * time.Second: 0, 30 * time.Second: 1} { // a try takes 20 seconds
		natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
			muteObjects(t, s)
			a := newNode(t, s, "a", sizing(t))
			p, err := assign.Submit(t.Context(), New(t, s), sized, 100<<10)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(after) // virtual
			if err := p.Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskCancelled) {
				t.Errorf("after %v: %v", after, err)
			}
			faults := a.count(func(e event.Event) bool {
				f, ok := e.(event.Fault)
				return ok && f.Doing == "store a large output"
			})
			if faults != want {
				t.Errorf("ended after %v: %d faults, want %d\n%s", after, faults, want, a.dump())
			}
		})
	}
}

// muteObjects makes an object store that acknowledges nothing.
func muteObjects(t *testing.T, s *natsrun.Server) {
	t.Helper()
	js, err := jetstream.New(natstest.Connect(t, s))
	if err == nil {
		_, err = assign.CreateObjects(t.Context(), js.Conn(), assign.ClientConfig{Namespace: testNS})
	}
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), objectsStream)
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.NoAck = true
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}
