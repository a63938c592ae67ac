package assign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// leaseState is what a worker's lease says about its beats.
func leaseState(t *testing.T, n *node, key string) string {
	t.Helper()
	js, err := jetstream.New(n.nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "roles")
	if err != nil {
		t.Fatal(err)
	}
	e, err := kv.Get(t.Context(), key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "ended"
	}
	if err != nil {
		t.Fatal(err)
	}
	var lease struct{ State string }
	if err := json.Unmarshal(e.Value(), &lease); err != nil {
		t.Fatal(err)
	}
	return lease.State
}

// TestTwoNamespacesOnOneSession: a namespace that has nothing to do any more does not put the
// session to idle beats while the other runs a task, because a process that needs an idle session
// gone may end it at once.
func TestTwoNamespacesOnOneSession(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		h := newHeld("long", "short")
		const other = "other"
		second := func(n *node) *assign.Assigner {
			a, err := assign.New(n.session, assign.Config{Namespace: other, Role: other, Slots: 8, StreamAutoCreate: true})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		a := newNode(t, s, "a", nil)
		e, err := a.session.Campaign(election.RoleConfig{Role: other})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		lead := second(a).Lead
		go func() { ran <- e.Run(ctx, lead) }()
		defer func() {
			cancel()
			<-ran
		}()
		leader(t, a)
		w := newNode(t, s, "w", h.register(t, "w"), workerOnly)
		h.register(t, "w")(second(w))

		long := h.submit(t, New(t, s), "x", "long")[0]
		c, err := assign.NewClient(a.nc, assign.ClientConfig{Namespace: other, StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		short := h.submit(t, c, "x", "short")[0]
		natstest.Eventually(t, "both run", time.Minute, func() (bool, string) {
			return len(h.by("long"))+len(h.by("short")) == 2, fmt.Sprint(h.by("long"), h.by("short"))
		})
		close(h.gates["short"])
		if _, err := short.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			time.Sleep(testTTL / 10)
			if state := leaseState(t, a, "w.lease.w"); state != "live" {
				t.Fatalf("the session is %s while a task runs under it", state)
			}
		}
		close(h.gates["long"])
		if _, err := long.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "an idle session", time.Minute, func() (bool, string) {
			state := leaseState(t, a, "w.lease.w")
			return state == "idle", state
		})
	})
}
