package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// running is an election in Run, and what it returns.
func running(t *testing.T, ctx context.Context, session *election.Session) (*part, <-chan error) {
	t.Helper()
	p := newPart()
	var err error
	if p.Election, err = session.Campaign(election.RoleConfig{Role: "scheduler"}); err != nil {
		t.Fatal(err)
	}
	returned := make(chan error, 1) // nobody may be waiting
	go func() { returned <- p.Run(ctx, p.work) }()
	return p, returned
}

func TestRunReturnsNilWhenItsContextEnds(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		ctx, cancel := context.WithCancel(t.Context())
		p, returned := running(t, ctx, session)
		receive(t, "promotion", p.began)
		cancel()
		if err := receive(t, "return", returned); err != nil {
			t.Errorf("run: %v", err)
		}
		if bridge.Number(session) == 0 {
			t.Error("the session has ended with it")
		}
		o := observe(t, s)
		if info, _ := o.Role("scheduler"); !info.Vacant {
			t.Errorf("after the return: %+v", info)
		}
	})
}

func TestRunReturnsNilWhenTheSessionIsClosed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		p, returned := running(t, t.Context(), session)
		receive(t, "promotion", p.began)
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "return", returned); err != nil {
			t.Errorf("run: %v", err)
		}
		if session.Err() != nil || p.Err() != nil {
			t.Errorf("errors after a clean end: %v, %v", session.Err(), p.Err())
		}
	})
}

func TestRunReturnsThePermanentFault(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		p, returned := running(t, t.Context(), session)
		receive(t, "promotion", p.began)
		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := js.DeleteKeyValue(t.Context(), bucket); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "return", returned); !errors.Is(err, election.ErrBucketNotFound) {
			t.Errorf("run: %v, want %v", err, election.ErrBucketNotFound)
		}
		t.Logf("noticed after %v", time.Since(began))
		if err := receive(t, "cause", p.ended); !errors.Is(err, election.ErrSessionLost) {
			t.Errorf("cause %v", err)
		}
		receive(t, "the session's end", after(session.Done()))
		if !errors.Is(session.Err(), election.ErrBucketNotFound) || !errors.Is(p.Err(), election.ErrBucketNotFound) {
			t.Errorf("errors: %v, %v", session.Err(), p.Err())
		}
		if _, err := session.Campaign(election.RoleConfig{Role: "other"}); !errors.Is(err, election.ErrClosed) {
			t.Errorf("campaign after the end: %v", err)
		}
	})
}

func TestRunBeforeOpen(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := unopened(t, instance("a"))
		p, returned := running(t, t.Context(), session)
		natstest.Eventually(t, "it has begun", time.Minute, func() (bool, string) {
			st := p.Status()
			return st.State == election.StateInit, sprint(st)
		})
		if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatal(err)
		}
		receive(t, "promotion", p.began)
		if err := session.Open(t.Context(), natstest.Connect(t, s)); !errors.Is(err, election.ErrAlreadyOpen) {
			t.Errorf("open twice: %v, want %v", err, election.ErrAlreadyOpen)
		}
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "return", returned); err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

func TestRunOfASessionThatIsNeverOpened(t *testing.T) {
	for _, how := range []string{"context", "close"} {
		session := unopened(t, instance("a"))
		p := newPart()
		var err error
		if p.Election, err = session.Campaign(election.RoleConfig{Role: "scheduler", Lead: p.work}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := p.Start(ctx); err != nil {
			t.Fatal(err)
		}
		if how == "context" {
			cancel()
		} else if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
		receive(t, "end", after(p.Done()))
		if p.Err() != nil {
			t.Errorf("ended by %s: %v", how, p.Err())
		}
		if err := errors.Join(session.Close(t.Context()), session.Close(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// TestCloseReportsUndrainedWork: work that ignores its context keeps the role for as long as the
// lease lasts.
func TestCloseReportsUndrainedWork(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		release := make(chan struct{})
		began := make(chan struct{}, 1)
		e, err := session.Campaign(election.RoleConfig{Role: "scheduler", Lead: func(context.Context, *election.Term) error {
			began <- struct{}{}
			<-release
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "promotion", began)
		other := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "scheduler"})
		err = session.Close(t.Context())
		var undrained *election.UndrainedError
		if !errors.As(err, &undrained) || len(undrained.Roles) != 1 || undrained.Roles[0] != "scheduler" {
			t.Fatalf("close: %v, want *UndrainedError of scheduler", err)
		}
		none(t, "promotion beside the stuck work", other.began)
		closed := time.Now()
		receive(t, "promotion", other.began)
		if waited := time.Since(closed); waited < 700*time.Millisecond {
			t.Errorf("promoted %v after the close, want the rest of the lease", waited)
		}
		close(release)
	})
}
