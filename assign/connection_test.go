package assign_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// refused makes a client whose connection does not come about until its link is reset.
func refused(t *testing.T, s *natsrun.Server) (*assign.Client, *nats.Conn, *natsrun.Link) {
	t.Helper()
	link := s.Link()
	link.Refuse(true)
	nc, err := s.Connect(append(append(link.Options(), noReports...), nats.RetryOnFailedConnect(true))...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		nc.Close()
	})
	return c, nc, link
}

// TestSubmitWaitsForTheConnection: how large an input may be is known only when there is one.
func TestSubmitWaitsForTheConnection(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c, _, link := refused(t, s)
		done := make(chan error, 2)
		go func() {
			_, err := assign.Submit(t.Context(), c, double, 1)
			done <- err
		}()
		go func() { done <- assign.Recur(t.Context(), c, double, "x", "@hourly", 1) }()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, submitted := assign.Submit(ctx, c, double, 1)
		_, got := assign.Get(ctx, c, "x")
		_, overview := assign.GetOverview(ctx, c)
		for i, err := range []error{submitted, got, overview} {
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not connected") {
				t.Errorf("no connection, call %d: %v", i, err)
			}
		}
		select {
		case err := <-done:
			t.Fatalf("without a connection: %v", err)
		default:
		}
		link.Refuse(false)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestConnectionThatIsGone: what a client says whose connection is closed, or lost for longer than
// its caller waits.
func TestConnectionThatIsGone(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c, nc, link := refused(t, s)
		link.Refuse(false)
		p, err := assign.Submit(t.Context(), c, double, 1)
		if err != nil {
			t.Fatal(err)
		}
		all := func() (errs []error) {
			for _, call := range []func(context.Context) error{
				func(ctx context.Context) error { _, err := assign.Submit(ctx, c, double, 1); return err },
				func(ctx context.Context) error { _, err := p.Status(ctx); return err },
				func(ctx context.Context) error { _, err := assign.List(ctx, c, assign.ListOptions{}); return err },
				func(ctx context.Context) error { _, err := assign.GetOverview(ctx, c); return err },
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				errs = append(errs, call(ctx))
				cancel()
			}
			return errs
		}
		link.Refuse(true)
		link.Reset()
		natstest.Eventually(t, "the connection is lost", 30*time.Second, func() (bool, string) {
			return nc.Status() != nats.CONNECTED, nc.Status().String()
		})
		for i, err := range all() {
			if t.Log(err); err == nil || !strings.Contains(err.Error(), "not connected") {
				t.Errorf("lost, call %d: %v", i, err)
			}
		}
		nc.Close()
		for i, err := range all() {
			if !errors.Is(err, assign.ErrClosed) {
				t.Errorf("closed, call %d: %v", i, err)
			}
		}
		fresh, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := assign.Submit(t.Context(), fresh, double, 1); !errors.Is(err, assign.ErrClosed) {
			t.Errorf("closed before the first use: %v", err)
		}
	})
}

// TestSubmitBeforeTheSessionIsOpen: a call that waits for the session in vain returns what it was
// waiting for.
func TestSubmitBeforeTheSessionIsOpen(t *testing.T) {
	session, err := election.NewSession(election.SessionConfig{Bucket: "roles", InstanceID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := assign.New(session, assign.Config{Namespace: testNS, Role: testRole})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, submitted := assign.Submit(ctx, a, double, 1)
	_, got := assign.Get(ctx, a, "x")
	for i, err := range []error{submitted, got} {
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "session is not open") {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// TestTaskOfAnotherKind: an id names a task of one kind, open or ended; nobody is given it as one
// of another.
func TestTaskOfAnotherKind(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		other := assign.NewKind[string, string]("other")
		if _, err := assign.Submit(t.Context(), c, double, 4, assign.WithID("one")); err != nil {
			t.Fatal(err)
		}
		refuse := func(when string) {
			t.Helper()
			for name, opts := range map[string][]assign.SubmitOption{
				"plain":  {assign.WithID("one")},
				"unique": {assign.WithID("one"), assign.WithUnique("key")},
			} {
				_, err := assign.Submit(t.Context(), c, other, "x", opts...)
				says(t, err, assign.ErrOtherKind, `one is of "double", not of "other"`)
				if t.Failed() {
					t.Fatalf("%s, %s", when, name)
				}
			}
			if p, err := assign.Submit(t.Context(), c, double, 5, assign.WithID("one")); err != nil || !p.Existing() {
				t.Errorf("%s: of its own kind: %v, %v", when, p, err)
			}
		}
		refuse("open")
		newNode(t, s, "a", doubling(t, "a", newTally()))
		if out, err := assign.Find(c, double, "one").Wait(t.Context()); err != nil || out != 8 {
			t.Fatalf("%d, %v", out, err)
		}
		refuse("ended")
		_, err := assign.Find(c, other, "one").Wait(t.Context())
		says(t, err, assign.ErrOtherKind, "double")
		bytes := assign.NewKind[[]byte, []byte]("any")
		if out, err := assign.Find(c, bytes, "one").Wait(t.Context()); err != nil || string(out) != "8" {
			t.Errorf("as it is: %q, %v", out, err)
		}
	})
}

// TestClientWithNoEcho: a client needs nothing of what it sends itself.
func TestClientWithNoEcho(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		newNode(t, s, "a", doubling(t, "a", newTally()))
		c, err := assign.NewClient(natstest.Connect(t, s, nats.NoEcho()),
			assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		p, err := assign.Submit(t.Context(), c, double, 21)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Wait(t.Context()); err != nil || got != 42 {
			t.Errorf("%d, %v", got, err)
		}
	})
}
