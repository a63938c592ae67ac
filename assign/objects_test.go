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
var sized = assign.NewKind[int, []byte]("sized", assign.MaxAttempts(2),
	assign.Backoff(time.Millisecond, time.Millisecond))

func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	return data
}

func sizing(t *testing.T) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, sized, func(_ context.Context, task *assign.Task[int]) ([]byte, error) {
			return pattern(task.Input), nil
		}); err != nil {
			t.Error(err)
		}
	}
}

func TestLargeOutput(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", sizing(t))
		c := New(t, s)
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
			store, err := js.Stream(t.Context(), objectsStream)
			if n == 64<<10 {
				if !errors.Is(err, jetstream.ErrStreamNotFound) {
					t.Errorf("an object store was made for an output that fits: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if how := store.CachedInfo().Config; how.MaxAge != 25*time.Hour || how.Storage != jetstream.FileStorage ||
				how.Replicas != 1 {
				t.Errorf("%+v", how)
			}
		}
		store, err := js.Stream(t.Context(), objectsStream)
		if err != nil {
			t.Fatal(err)
		}
		if n := store.CachedInfo().State.Msgs; n != 1+2+6 { // chunks of at most 512 KiB
			t.Errorf("%d chunks, want 9", n)
		}
	})
}

// TestLargeOutputMustNotOutliveItsObject: nobody could read it in the end.
func TestLargeOutputMustNotOutliveItsObject(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		newNode(t, s, "a", sizing(t), func(_ *election.SessionConfig, a *assign.Config, _ *bool) {
			a.LargeRetention = 2 * time.Hour
		})
		c := New(t, s)
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

// missingFault is that a worker has said that the object store is missing.
func missingFault(e event.Event) bool {
	f, ok := e.(event.Fault)
	return ok && f.Doing == "store a large output" && errors.Is(f.Err, assign.ErrObjectsNotFound)
}

func uncreating(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.StreamAutoCreate = false }

// TestLargeOutputWithoutItsStore: a task that has run waits for the store, and does not run again
// when somebody creates it.
func TestLargeOutputWithoutItsStore(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, sized, 100<<10) // makes the stream
		if err != nil {
			t.Fatal(err)
		}
		a := newNode(t, s, "a", sizing(t), uncreating)
		natstest.Eventually(t, "the worker says that its store is missing", time.Minute, func() (bool, string) {
			return a.count(missingFault) > 2, a.dump()
		})
		cfg := assign.ClientConfig{Namespace: testNS, LargeRetention: 3 * time.Hour}
		for i, replicas := range []int{1, 3} { // the second finds what the first has made
			cfg.Replicas = replicas
			o, err := assign.CreateObjects(t.Context(), natstest.Connect(t, s), cfg)
			if want := (assign.Objects{Name: objectsStream, Retention: 3 * time.Hour, Replicas: 1}); err != nil ||
				o != want {
				t.Errorf("creation %d: %+v, %v; want %+v", i, o, err, want)
			}
		}
		out, err := p.Wait(t.Context())
		st, statusErr := p.Status(t.Context())
		if err != nil || statusErr != nil || !bytes.Equal(out, pattern(100<<10)) || st.Attempts != 1 {
			t.Errorf("%d bytes, %v; %+v, %v", len(out), err, st, statusErr)
		}
	})
}

func TestCreateObjectsRefusesNonsense(t *testing.T) {
	_, err := assign.CreateObjects(t.Context(), nil, assign.ClientConfig{
		Namespace: "a.b", Replicas: 2,
		LargeRetention: time.Second,
	})
	for _, field := range []string{"Namespace", "Replicas", "LargeRetention"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}

// TestAnObjectStoreWithDirectGetsIsNotUsed: a user that may store an object there could forge
// records. The error says what to set, and when it is set the output that waits is stored.
func TestAnObjectStoreWithDirectGetsIsNotUsed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		withDirectGets(t, js)
		const fix = "set allow_direct to false"
		if _, err := assign.CreateObjects(t.Context(), natstest.Connect(t, s),
			assign.ClientConfig{Namespace: testNS}); err == nil || !strings.Contains(err.Error(), fix) {
			t.Errorf("opened: %v", err)
		}
		a := newNode(t, s, "a", sizing(t))
		p, err := assign.Submit(t.Context(), New(t, s), sized, 100<<10)
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the worker says what to set", time.Minute, func() (bool, string) {
			return a.count(func(e event.Event) bool {
				f, ok := e.(event.Fault)
				return ok && strings.Contains(f.Err.Error(), fix)
			}) > 2, a.dump()
		})
		if err := withoutDirectGets(t, js); err != nil {
			t.Fatal(err)
		}
		if out, err := p.Wait(t.Context()); err != nil || !bytes.Equal(out, pattern(100<<10)) {
			t.Errorf("%d bytes, %v", len(out), err)
		}
	})
}

// TestLargeOutputWhoseStoreStaysMissing: no attempt is wasted on it, the next one that needs it
// does not wait as long again, and a requeue is all it takes when the store is there. One that is
// there and must not be used is not better.
func TestLargeOutputWhoseStoreStaysMissing(t *testing.T) {
	costly(t)
	for _, c := range []struct {
		name, told string
		spoil      func(*testing.T, jetstream.JetStream)
		mend       func(*testing.T, jetstream.JetStream) error
	}{
		{
			"missing", "CreateObjects", func(*testing.T, jetstream.JetStream) {},
			func(t *testing.T, js jetstream.JetStream) error {
				_, err := assign.CreateObjects(t.Context(), js.Conn(), assign.ClientConfig{Namespace: testNS})
				return err
			},
		},
		{"with direct gets", "allow_direct", withDirectGets, withoutDirectGets},
		{"of an earlier version", "nats stream rm " + objectsStream, func(t *testing.T, js jetstream.JetStream) {
			if _, err := js.CreateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: "TASKS_" + testNS}); err != nil {
				t.Fatal(err)
			}
		}, func(t *testing.T, js jetstream.JetStream) error {
			err := js.DeleteStream(t.Context(), objectsStream)
			if err == nil {
				_, err = assign.CreateObjects(t.Context(), js.Conn(), assign.ClientConfig{Namespace: testNS})
			}
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				js, err := jetstream.New(natstest.Connect(t, s))
				if err != nil {
					t.Fatal(err)
				}
				c.spoil(t, js)
				client := New(t, s)
				// makes the stream
				if _, err := assign.Get(t.Context(), client, "nothing"); !errors.Is(err, assign.ErrTaskNotFound) {
					t.Fatal(err)
				}
				newNode(t, s, "a", sizing(t), uncreating)
				var id string
				for i, within := range []time.Duration{6 * time.Minute, time.Minute} {
					p, err := assign.Submit(t.Context(), client, sized, 100<<10)
					if err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithTimeout(t.Context(), within) // virtual
					_, err = p.Wait(ctx)
					cancel()
					var dead *assign.TaskError
					if !errors.As(err, &dead) || dead.Attempts != 1 || dead.Cause != "permanent" ||
						!strings.Contains(dead.Message, c.told) {
						t.Fatalf("task %d: %v", i, err)
					}
					id = p.ID()
				}
				if err := c.mend(t, js); err != nil {
					t.Fatal(err)
				}
				if err := assign.Requeue(t.Context(), client, id); err != nil {
					t.Fatal(err)
				}
				if out, err := assign.Find(client, sized, id).Wait(t.Context()); err != nil || !bytes.Equal(out, pattern(100<<10)) {
					t.Errorf("%d bytes, %v", len(out), err)
				}
			})
		})
	}
}

// withDirectGets makes the object store and gives it direct gets.
func withDirectGets(t *testing.T, js jetstream.JetStream) {
	_, err := assign.CreateObjects(t.Context(), js.Conn(), assign.ClientConfig{Namespace: testNS})
	if err == nil {
		err = directGets(t, js, true)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withoutDirectGets does what the fault of an object store with direct gets says.
func withoutDirectGets(t *testing.T, js jetstream.JetStream) error { return directGets(t, js, false) }

func directGets(t *testing.T, js jetstream.JetStream, allow bool) error {
	stream, err := js.Stream(t.Context(), objectsStream)
	if err != nil {
		return err
	}
	cfg := stream.CachedInfo().Config
	cfg.AllowDirect = allow
	_, err = js.UpdateStream(t.Context(), cfg)
	return err
}

// TestLargeOutputOfAWorkerThatShutsDown: what waits for the store is given back like what still
// runs, uncounted.
func TestLargeOutputOfAWorkerThatShutsDown(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		once := assign.NewKind[int, []byte]("sized", assign.MaxAttempts(1))
		p, err := assign.Submit(t.Context(), c, once, 100<<10)
		if err != nil {
			t.Fatal(err)
		}
		a := newNode(t, s, "a", nil, func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.CrashBudget = 1 })
		leader(t, a)
		w := newNode(t, s, "w", sizing(t), workerOnly, uncreating, drainTimeout(time.Second))
		natstest.Eventually(t, "the worker says that its store is missing", time.Minute, func() (bool, string) {
			return w.count(missingFault) > 0, w.dump()
		})
		w.close(t)
		newNode(t, s, "x", sizing(t), workerOnly)
		out, err := p.Wait(t.Context())
		if err != nil || !bytes.Equal(out, pattern(100<<10)) {
			t.Errorf("%d bytes, %v\n%s", len(out), err, w.dump())
		}
		if how := left(a, "w"); how != "closed" {
			t.Errorf("the session has ended as %q, want closed", how)
		}
	})
}

// TestLargeOutputWaitsForItsStore: the attempt continues until its output is stored.
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
		c := New(t, s)
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
		faults := w.count(func(e event.Event) bool {
			f, ok := e.(event.Fault)
			return ok && f.Doing == "store a large output"
		})
		if faults == 0 {
			t.Error("the connection was there all the time: the test shows nothing")
		}
	})
}
