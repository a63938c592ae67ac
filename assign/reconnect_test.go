package assign_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestLargeOutputIsReadThroughReconnects: whatever was asked when the connection was lost is asked
// again as soon as there is another one, not when the time is up that a reading may take.
func TestLargeOutputIsReadThroughReconnects(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		newNode(t, s, "a", sizing(t))
		p, err := assign.Submit(t.Context(), New(t, s), sized, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		link := s.Link()
		nc := natstest.Connect(t, s, append(link.Options(), noReports...)...)
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if _, err := p.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		const step = 100 * time.Millisecond // all times are virtual
		for after := step / 2; after < 10*step; after += step {
			link.DelayDir(natsrun.ToClient, step)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			cut := make(chan struct{})
			go func() {
				defer close(cut)
				time.Sleep(after)
				link.DelayDir(natsrun.ToClient, 0)
				link.Cut()
				link.Heal()
			}()
			out, err := assign.Find(c, sized, p.ID()).Wait(ctx)
			<-cut
			if cancel(); err != nil || !bytes.Equal(out, pattern(1<<20)) {
				t.Errorf("cut after %v: %d bytes, %v", after, len(out), err)
			}
		}
	})
}

// TestFirstUseWithoutAConnection: a call that waits for the connection also waits when a client is
// first used after its connection was lost. A call that only asks returns an error.
func TestFirstUseWithoutAConnection(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		newNode(t, s, "a", doubling(t, "a", newTally()))
		p, err := assign.Submit(t.Context(), New(t, s), double, 21)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		link := s.Link()
		nc := natstest.Connect(t, s, append(link.Options(), noReports...)...)
		link.Refuse(true)
		link.Reset()
		natstest.Eventually(t, "the connection is lost", 30*time.Second, func() (bool, string) {
			return nc.Status() != nats.CONNECTED, nc.Status().String()
		})
		first := func() *assign.Client {
			c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			return c
		}
		if _, err := assign.Get(t.Context(), first(), p.ID()); err == nil || !strings.Contains(err.Error(), "connect") {
			t.Errorf("get: %v", err)
		}
		within, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := assign.Submit(within, first(), double, 1); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "not connected") {
			t.Errorf("submit: %v", err)
		}
		calls := map[string]func(c *assign.Client) error{
			"submit": func(c *assign.Client) error { _, err := assign.Submit(t.Context(), c, double, 1); return err },
			"wait":   func(c *assign.Client) error { _, err := assign.Find(c, double, p.ID()).Wait(t.Context()); return err },
			"pause":  func(c *assign.Client) error { return assign.PauseKind(t.Context(), c, "other", "test") },
			"recur":  func(c *assign.Client) error { return assign.Recur(t.Context(), c, double, "x", "@hourly", 1) },
		}
		done := make(chan error, len(calls))
		for name, call := range calls {
			go func() {
				if err := call(first()); err != nil {
					done <- fmt.Errorf("%s: %w", name, err)
					return
				}
				done <- nil
			}()
		}
		time.Sleep(time.Minute) // virtual
		select {
		case err := <-done:
			t.Fatalf("without a connection: %v", err)
		default:
		}
		link.Refuse(false)
		for range calls {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
