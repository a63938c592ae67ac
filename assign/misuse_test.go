package assign_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func unopenedSession(t *testing.T) *election.Session {
	t.Helper()
	s, err := election.NewSession(election.SessionConfig{Bucket: "roles"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOneAssignerOfANamespace: of many that are made at once for a session one is, and it alone
// runs the tasks. Another namespace, and another session, has its own.
func TestOneAssignerOfANamespace(t *testing.T) {
	s := unopenedSession(t)
	cfg := assign.Config{Namespace: testNS, Role: testRole}
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for range cap(errs) {
		wg.Go(func() {
			_, err := assign.New(s, cfg)
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	made := 0
	for err := range errs {
		if err == nil {
			made++
		} else if !errors.Is(err, assign.ErrDuplicateNamespace) {
			t.Errorf("another one: %v, want %v", err, assign.ErrDuplicateNamespace)
		}
	}
	if made != 1 {
		t.Errorf("%d assigners of one namespace were made for a session, want 1", made)
	}
	if _, err := assign.New(unopenedSession(t), cfg); err != nil {
		t.Errorf("for another session: %v", err)
	}
	cfg.Namespace = "other"
	if _, err := assign.New(s, cfg); err != nil {
		t.Errorf("of another namespace: %v", err)
	}
}

// TestSubmitWithoutServer: a submission that ends before the session has opened names the server
// that does not answer.
func TestSubmitWithoutServer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		nc := natstest.Connect(t, s, append(link.Options(), nats.ReconnectBufSize(-1), nats.MaxReconnects(-1),
			nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2))...)
		link.Cut()
		natstest.Eventually(t, "the connection is lost", time.Minute, func() (bool, string) {
			return nc.IsReconnecting(), nc.Status().String()
		})
		session := unopenedSession(t)
		a, err := assign.New(session, assign.Config{Namespace: testNS, Role: testRole})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		opened := make(chan error, 1)
		go func() { opened <- session.Open(ctx, nc) }()
		_, err = assign.Submit(ctx, a, assign.NewKind[string, string]("k"), "")
		var away *election.NotConnectedError
		if !errors.As(err, &away) || len(away.Servers) != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("submit: %v", err)
		}
		<-opened
	})
}

// TestSecondAssignerOfALiveSession: it is refused after the first lease too, and the first one
// works on.
func TestSecondAssignerOfALiveSession(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", doubling(t, "a", ran))
		leader(t, a)
		before := bridge.Number(a.session)
		a.link.Hold(natsrun.Both)
		natstest.Eventually(t, "the lease is lost", 30*time.Second,
			func() (bool, string) { return bridge.TrustedFor(a.session) <= 0, a.dump() })
		a.link.Heal()
		natstest.Eventually(t, "another lease", 30*time.Second,
			func() (bool, string) { return bridge.Number(a.session) > before, a.dump() })
		if _, err := assign.New(a.session, assign.Config{Namespace: testNS, Role: testRole}); !errors.Is(err,
			assign.ErrDuplicateNamespace) {
			t.Errorf("a second one: %v, want %v", err, assign.ErrDuplicateNamespace)
		}
		p, err := assign.Submit(t.Context(), New(t, s), double, 21, assign.WithID("one"))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Wait(t.Context()); out != 42 || err != nil {
			t.Errorf("%d, %v\n%s", out, err, a.dump())
		}
		if n := ran.runs("one"); n != 1 {
			t.Errorf("it ran %d times, want 1", n)
		}
	})
}

// TestNilsAreRefused: what is missing is said where it is given, not when the first task comes.
func TestNilsAreRefused(t *testing.T) {
	run := func(context.Context, *assign.Task[int]) (int, error) { return 0, nil }
	a, err := assign.New(unopenedSession(t), assign.Config{Namespace: testNS, Role: testRole})
	if err != nil {
		t.Fatal(err)
	}
	_, noSession := assign.New(nil, assign.Config{Namespace: testNS, Role: testRole})
	for field, err := range map[string]error{
		"Session": noSession, "Assigner": assign.Handle(nil, double, run), "Handler": assign.Handle(a, double, nil),
	} {
		var fault *assign.ConfigError
		if !errors.As(err, &fault) || fault.Field != field || fault.Fix == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := assign.Handle(a, assign.Kind[int, int]{}, run); !errors.Is(err, assign.ErrInvalidKind) {
		t.Errorf("the zero kind: %v, want %v", err, assign.ErrInvalidKind)
	}
	if err := assign.Handle(a, double, run); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
