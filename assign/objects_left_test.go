package assign_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// objectBytes are the bytes that the object store keeps, and its keys.
func objectBytes(t *testing.T, s *natsrun.Server) (size uint64, keys []string) {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	store, err := js.Stream(ctx, objectsStream)
	if err != nil {
		t.Fatal(err)
	}
	info, err := store.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		t.Fatal(err)
	}
	for subject := range info.State.Subjects {
		keys = append(keys, strings.TrimPrefix(subject, "$KV."+objectsStream+"."))
	}
	return info.State.Bytes, keys
}

// TestALargeOutputLeavesWithItsOutcome: after the kind's retention, or when somebody deletes the
// task, and not with the store's time limit. One that an open task names stays, however long that
// task waits. The chunks of an interrupted try do not stay with it.
func TestALargeOutputLeavesWithItsOutcome(t *testing.T) {
	thorough.Only(t, "days pass")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		began := time.Now()
		a := newNode(t, s, "a", sizing(t), slowly)
		c := New(t, s)
		output := pattern(1 << 20)
		submit := func(retention time.Duration) (id string) {
			p, err := assign.Submit(t.Context(), c, sized, len(output), assign.With(assign.Retention(retention)))
			if err != nil {
				t.Fatal(err)
			}
			if out, err := p.Wait(t.Context()); err != nil || !bytes.Equal(out, output) {
				t.Fatalf("%d bytes, %v\n%s", len(out), err, a.dump())
			}
			return p.ID()
		}
		submit(2 * time.Hour)
		// the server takes the age of records from a clock that no bubble has
		edit(t, s, objectsStream, func(cfg *jetstream.StreamConfig) { cfg.MaxAge = 0 })
		if err := assign.Delete(t.Context(), c, submit(20*time.Hour)); err != nil {
			t.Fatal(err)
		}
		named := submit(time.Hour)
		later := assign.WithDelay(5 * time.Hour)
		if _, err := assign.Submit(t.Context(), c, sized, 1, assign.After(named), later); err != nil {
			t.Fatal(err)
		}
		interrupted(t, s, named)
		for _, x := range []struct {
			at      time.Duration
			objects uint64
		}{
			{50 * time.Minute, 4},
			{100 * time.Minute, 2}, // without the deleted one, and what a try has left
			{200 * time.Minute, 1},
			{270 * time.Minute, 1},
		} {
			time.Sleep(x.at - time.Since(began))
			size, keys := objectBytes(t, s)
			if least := x.objects << 20; size < least || size > least+4096 {
				t.Errorf("after %v: %d bytes, want %d objects of 1 MiB: %v", x.at, size, x.objects, keys)
			}
		}
		if out, err := assign.Find(c, sized, named).Wait(t.Context()); err != nil || !bytes.Equal(out, output) {
			t.Errorf("the output that an open task names: %d bytes, %v", len(out), err)
		}
		time.Sleep(4 * time.Hour)
		if size, keys := objectBytes(t, s); size > 0 || len(keys) > 0 {
			t.Errorf("%d bytes are left: %v", size, keys)
		}
		if n := a.count(func(e event.Event) bool { _, is := e.(event.Fault); return is }); n > 0 {
			t.Errorf("%d faults: %s", n, a.dump())
		}
	})
}

// interrupted stores what another try to store the output of a task would have left.
func interrupted(t *testing.T, s *natsrun.Server, id string) {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, keys := objectBytes(t, s)
	for _, key := range keys {
		object, whole := strings.CutSuffix(key, ".0")
		if !whole || !strings.HasPrefix(object, id+".") {
			continue
		}
		for _, chunk := range []string{".2.0", ".2.1"} {
			if _, err := nc.Request("$KV."+objectsStream+"."+object+chunk, make([]byte, 512<<10), 10*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	t.Fatalf("no object of %s: %v", id, keys)
}

// TestASchedulerThatMayNotRemoveOutputs says so once, with the subject, if there are any. It works
// on, and the store's time limit removes them.
func TestASchedulerThatMayNotRemoveOutputs(t *testing.T) {
	thorough.Only(t, "it lasts for hours of virtual time")
	for denied, faults := range map[string][2]int{ // without outputs, and with some
		"$JS.API.STREAM.INFO." + objectsStream: {0, 1},
		"$KV." + objectsStream + ".>":          {0, 1},
	} {
		t.Run(denied, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				newNode(t, rooted{s}, "w", sizing(t), workerOnly, slowly)
				a := newNode(t, s, "a", nil, slowly)
				leader(t, a)
				c := rootClient(t, s)
				for i := range faults {
					if i == 1 {
						for _, kept := range []time.Duration{time.Hour, 20 * time.Hour} {
							p, err := assign.Submit(t.Context(), c, sized, 100<<10, assign.With(assign.Retention(kept)))
							if err != nil {
								t.Fatal(err)
							}
							if _, err := p.Wait(t.Context()); err != nil {
								t.Fatal(err)
							}
						}
					}
					time.Sleep([]time.Duration{time.Hour, 3 * time.Hour}[i])
					all := faultsOf(a, election.ErrPermission)
					if len(all) != faults[i] || len(all) > 0 && !strings.Contains(all[0].Err.Error(), denied[:len(denied)-1]) {
						t.Errorf("%d faults, want %d: %+v", len(all), faults[i], all)
					}
				}
			}, denying([]string{denied}, nil))
		})
	}
}
