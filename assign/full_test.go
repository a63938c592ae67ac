package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

const fullFor = 3 * time.Minute

// fill submits until the stream is full: then the client is told so, at once and by name.
func fill(t *testing.T, c *assign.Client, k assign.Kind[[]byte, []byte], input string,
	opts ...assign.SubmitOption,
) (all []*assign.Pending[[]byte]) {
	t.Helper()
	for {
		p, err := assign.Submit(t.Context(), c, k, []byte(input), opts...)
		if err == nil {
			all = append(all, p)
			continue
		}
		if !errors.Is(err, assign.ErrStreamFull) || !strings.Contains(err.Error(), "maximum ") {
			t.Fatalf("after %d: %v", len(all), err)
		}
		return all
	}
}

// pacedly checks that a scheduler that cannot store says so and does not insist: it is what remains
// of fullFor.
func pacedly(t *testing.T, s *natsrun.Server, a *node, c *assign.Client) {
	t.Helper()
	nc := natstest.Connect(t, s)
	written := 0
	for _, subject := range []string{stored + "q.>", stored + "t.>", stored + "seal"} {
		sub, err := nc.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		_ = sub.SetPendingLimits(-1, -1)
		defer func() {
			n, _, _ := sub.Pending()
			if written += n; written > 9_000 {
				t.Errorf("%d writes in %v", written, fullFor)
			}
		}()
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(fullFor)
	natstest.Eventually(t, "an overview says what is wrong", time.Minute, func() (bool, string) {
		o, err := assign.GetOverview(t.Context(), c)
		return strings.Contains(o.Trouble, "full"), fmt.Sprintf("%+v, %v", o, err)
	})
	faults := faultsOf(a, assign.ErrStreamFull)
	if n := len(faults); n == 0 || n > 8 {
		t.Errorf("%d faults in %v", n, fullFor)
	}
}

// drains checks that everything ends, and that no trouble is told of any more.
func drains(t *testing.T, c *assign.Client, all []*assign.Pending[[]byte]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for i, p := range all {
		if _, err := p.Wait(ctx); err != nil {
			t.Fatalf("task %d of %d: %v", i, len(all), err)
		}
	}
	natstest.Eventually(t, "no trouble any more", time.Minute, func() (bool, string) {
		o, err := assign.GetOverview(ctx, c)
		return err == nil && o.Trouble == "", fmt.Sprintf("%+v, %v", o, err)
	})
}

// TestAFullStream: nothing can be stored, not even the first seal, or only what takes no more place
// than before; all recovers by itself as soon as the limit is raised.
func TestAFullStream(t *testing.T) {
	costly(t)
	bytes := func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = 64 << 10 }
	messages := func(cfg *jetstream.StreamConfig) { cfg.MaxMsgs = 100 }
	for name, x := range map[string]struct {
		limit  func(*jetstream.StreamConfig)
		sealed bool
		input  string
	}{
		"bytes":            {bytes, false, "x"},
		"messages":         {messages, false, "x"},
		"bytes, sealed":    {bytes, true, "x"},
		"messages, sealed": {messages, true, "fail"},
	} {
		if !thorough.Larger() && (name == "messages" || name == "bytes, sealed") {
			continue // each limit, and each beginning, is there once
		}
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				k := assign.NewKind[[]byte, []byte]("echo")
				c := New(t, s)
				if x.sealed {
					before := newNode(t, s, "before", failsOnce(t, k))
					leader(t, before)
					if err := runs(t, c, k, time.Minute); err != nil {
						t.Fatal(err)
					}
					before.close(t)
				} else if _, err := assign.Submit(t.Context(), c, k, nil); err != nil {
					t.Fatal(err)
				}
				limit(t, s, x.limit)
				all := fill(t, c, k, x.input)
				a := newNode(t, s, "a", failsOnce(t, k))
				leader(t, a)
				pacedly(t, s, a, c)
				limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes, cfg.MaxMsgs = -1, -1 })
				drains(t, c, all)
			})
		})
	}
}

// TestAStreamThatFillsUpUnderAScheduler: it can store some things still, and others not: notes and
// seals, those of a later scheduler too.
func TestAStreamThatFillsUpUnderAScheduler(t *testing.T) {
	costly(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[[]byte, []byte]("echo")
		large := assign.NewKind[[]byte, []byte]("large")
		c := New(t, s)
		both := func(a *assign.Assigner) {
			failsOnce(t, k)(a)
			failsOnce(t, large)(a)
		}
		a := newNode(t, s, "a", both)
		leader(t, a)
		if err := runs(t, c, k, time.Minute); err != nil {
			t.Fatal(err)
		}
		a.close(t)
		limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = 512 << 10 })
		heavy := fill(t, c, large, strings.Repeat("x", 8<<10))
		all := append(fill(t, c, k, "fail"), fill(t, c, k, "x")...)
		b := newNode(t, s, "a-much-longer-name", both)
		leader(t, b)
		// The outcome of a task with a large input takes less than its place, and makes room for
		// others: it ends at once.
		drains(t, c, append(all, heavy...))
		b.close(t)
		heavy = fill(t, c, large, strings.Repeat("x", 8<<10))
		fill(t, c, k, "x") // the last bytes: these wait for outcomes that expire
		leader(t, newNode(t, s, "another", both))
		for i, p := range heavy {
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatalf("task %d of %d: %v", i, len(heavy), err)
			}
		}
	})
}

// TestAFullStreamOnReplicas: what does not fit all at once is stored piece by piece.
func TestAFullStreamOnReplicas(t *testing.T) {
	thorough.Only(t, "it waits for servers")
	t.Parallel() // it waits for servers most of the time
	s := natstest.Tenant(t)
	k := assign.NewKind[[]byte, []byte]("echo")
	a := newNode(t, s, "a", failsOnce(t, k), replicated, slots(64))
	leader(t, a)
	c := New(t, s)
	if err := runs(t, c, k, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = 32 << 10 })
	all := fill(t, c, k, "x", assign.WithDelay(2*time.Second))
	natstest.Eventually(t, "a fault", time.Minute, func() (bool, string) {
		return len(faultsOf(a, assign.ErrStreamFull)) > 0, "none"
	})
	limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = -1 })
	for _, p := range all {
		if _, err := p.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
