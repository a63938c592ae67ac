package assign_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// sized is a kind whose input says how large its output is.
var sized = assign.NewKind[int, []byte]("sized", assign.MaxAttempts(2), assign.Backoff(time.Millisecond, time.Millisecond))

func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	return data
}

func sizing(t *testing.T) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, sized, func(_ context.Context, task *assign.Task[int]) ([]byte, error) { return pattern(task.Input), nil }); err != nil {
			t.Error(err)
		}
	}
}

func TestLargeOutput(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", sizing(t))
		c := newClient(t, s)
		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{64 << 10, 64<<10 + 1, 600 << 10, 3 << 20} {
			p, err := assign.Submit(t.Context(), c, sized, n)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Wait(t.Context())
			if err != nil || !bytes.Equal(out, pattern(n)) {
				t.Fatalf("%d bytes: %d came, %v\n%s", n, len(out), err, a.dump())
			}
			store, err := js.ObjectStore(t.Context(), "TASKS_"+testNS)
			if n == 64<<10 {
				if !errors.Is(err, jetstream.ErrBucketNotFound) {
					t.Errorf("an object store was made for an output that fits: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			status, err := store.Status(t.Context())
			if err != nil || status.TTL() != 25*time.Hour || status.Storage() != jetstream.FileStorage || status.Replicas() != 1 {
				t.Errorf("%+v, %v", status, err)
			}
		}
		store, err := js.ObjectStore(t.Context(), "TASKS_"+testNS)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := store.List(t.Context()); err != nil || len(all) != 3 {
			t.Errorf("%d objects, %v; want one for each large output", len(all), err)
		}
	})
}

// TestLargeOutputMustNotOutliveItsObject: nobody could read it in the end.
func TestLargeOutputMustNotOutliveItsObject(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		newNode(t, s, "a", sizing(t), func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.LargeRetention = 2 * time.Hour })
		c := newClient(t, s)
		for retention, fits := range map[time.Duration]bool{2 * time.Hour: true, 3 * time.Hour: false} {
			p, err := assign.Submit(t.Context(), c, sized, 100<<10, assign.With(assign.Retention(retention)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Wait(t.Context())
			var dead *assign.TaskError
			if fits {
				if err != nil {
					t.Errorf("kept for %v: %v", retention, err)
				}
			} else if !errors.As(err, &dead) || dead.Cause != "permanent" || !strings.Contains(dead.Message, "LargeRetention") {
				t.Errorf("kept for %v: %v", retention, err)
			}
		}
	})
}

// TestLargeOutputWithoutItsStore: a store that is missing and may not be made fails the attempt, and says so.
func TestLargeOutputWithoutItsStore(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := newClient(t, s)
		p, err := assign.Submit(t.Context(), c, sized, 100<<10) // makes the stream
		if err != nil {
			t.Fatal(err)
		}
		newNode(t, s, "a", sizing(t), func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.StreamAutoCreate = false })
		var dead *assign.TaskError
		if _, err := p.Wait(t.Context()); !errors.As(err, &dead) || dead.Attempts != 2 || !strings.Contains(dead.Message, "StreamAutoCreate") {
			t.Errorf("%v", err)
		}
	})
}

// TestLargeOutputWaitsForItsStore: the attempt goes on until its output is stored.
func TestLargeOutputWaitsForItsStore(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", nil)
		leader(t, a)
		running, release := make(chan struct{}), make(chan struct{})
		w := newNode(t, s, "w", func(a *assign.Assigner) {
			if err := assign.Handle(a, sized, func(_ context.Context, task *assign.Task[int]) ([]byte, error) {
				close(running)
				<-release
				return pattern(task.Input), nil
			}); err != nil {
				t.Error(err)
			}
		}, workerOnly)
		c := newClient(t, s)
		p, err := assign.Submit(t.Context(), c, sized, 2<<20)
		if err != nil {
			t.Fatal(err)
		}
		<-running
		w.link.Reset()
		w.link.Refuse(true)
		close(release)
		time.Sleep(600 * time.Millisecond) // virtual; its session outlives this
		w.link.Heal()
		out, err := p.Wait(t.Context())
		st, statusErr := p.Status(t.Context())
		if err != nil || statusErr != nil || !bytes.Equal(out, pattern(2<<20)) || st.Attempts != 1 {
			t.Errorf("%d bytes, %v; %+v, %v\n%s", len(out), err, st, statusErr, w.dump())
		}
		faults := w.count(func(e event.Event) bool { f, ok := e.(event.Fault); return ok && f.Doing == "store a large output" })
		if faults == 0 {
			t.Error("the connection was there all the time: the test shows nothing")
		}
	})
}
