package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// slowly starts work that continues for a while after its context has ended.
func slowly(t *testing.T, session *election.Session, role string, drain time.Duration) *part {
	t.Helper()
	p := newPart()
	var err error
	p.Election, err = session.Campaign(election.RoleConfig{
		Role: role,
		Lead: func(ctx context.Context, term *election.Term) error {
			defer time.Sleep(drain)
			return p.work(ctx, term)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.start(t)
	return p
}

func TestStopVacatesAfterTheDrain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		o := observe(t, s)
		p := slowly(t, session, "scheduler", 700*time.Millisecond)
		began := time.Now()
		stop(t, p)
		if took := time.Since(began); took < 700*time.Millisecond {
			t.Errorf("stop returned after %v, before the work had", took)
		}
		info := sees(t, o, "scheduler", "vacant", func(i election.RoleInfo) bool { return i.Vacant })
		if info.By != "a" || p.IsLeader() || p.Status().State != election.StateStopped {
			t.Errorf("after the stop: %+v, %+v", info, p.Status())
		}
		if err := p.Stop(); err != nil {
			t.Errorf("second stop: %v", err)
		}
	})
}

func TestStopWithoutDeleteKeyKeepsTheRoleHeld(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		other := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "other"})
		b := campaign(t, open(t, s, instance("c")), election.RoleConfig{Role: "scheduler"})
		if receive(t, "b's promotion", b.began); true {
			stop(t, b)
		}
		o := observe(t, s)
		p, _ := lead(t, session, election.RoleConfig{Role: "scheduler"})
		rival := campaign(t, open(t, s, instance("d")), election.RoleConfig{Role: "scheduler"})
		if err := p.StopWithContext(t.Context(), election.StopOptions{WaitForDemote: true}); err != nil {
			t.Fatal(err)
		}
		receive(t, "the work's end", p.ended)
		time.Sleep(time.Minute)
		if info, _ := o.Role("scheduler"); info.Leader != "a" || p.IsLeader() {
			t.Errorf("a minute later the record says %+v, a leads: %v", info, p.IsLeader())
		}
		none(t, "rival's promotion", rival.began)
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "rival's promotion at the end of the session", rival.began)
		_ = other
	})
}

func TestStopWithoutWaiting(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		p := slowly(t, session, "scheduler", 500*time.Millisecond)
		began := time.Now()
		if err := p.StopWithContext(t.Context(), election.StopOptions{DeleteKey: true}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("returned after %v, want at once", took)
		}
		receive(t, "the work's end", p.ended)
		<-p.Done()
		if took := time.Since(began); took < 500*time.Millisecond {
			t.Errorf("done after %v, before the work had returned", took)
		}
		o := observe(t, s)
		sees(t, o, "scheduler", "vacant", func(i election.RoleInfo) bool { return i.Vacant })
	})
}

func TestStopTimeout(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		p := slowly(t, session, "scheduler", 5*time.Second)
		err := p.StopWithContext(t.Context(), election.StopOptions{
			DeleteKey: true, WaitForDemote: true,
			Timeout: time.Second,
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stop: %v, want %v", err, context.DeadlineExceeded)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.StopWithContext(ctx, election.StopOptions{WaitForDemote: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("stop with an ended context: %v, want %v", err, context.Canceled)
		}
		<-p.Done() // the drain continued
		if p.Err() != nil {
			t.Error(p.Err())
		}
	})
}

func TestStartAndStopOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		e, err := session.Campaign(election.RoleConfig{Role: "scheduler"})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); !errors.Is(err, election.ErrNoWork) {
			t.Errorf("start without work: %v, want %v", err, election.ErrNoWork)
		}
		if _, err := session.Campaign(election.RoleConfig{Role: "scheduler"}); !errors.Is(err, election.ErrDuplicateRole) {
			t.Errorf("campaign twice: %v, want %v", err, election.ErrDuplicateRole)
		}
		p := newPart()
		if p.Election = e; e.Run(ended(), p.work) != nil {
			t.Error("run with an ended context does not end well")
		}
		if err := e.Start(t.Context()); !errors.Is(err, election.ErrAlreadyStarted) {
			t.Errorf("start after stop: %v, want %v", err, election.ErrAlreadyStarted)
		}
		p, _ = lead(t, session, election.RoleConfig{Role: "scheduler"}) // the role is free for a new one
		if err := p.Start(t.Context()); !errors.Is(err, election.ErrAlreadyStarted) {
			t.Errorf("start twice: %v, want %v", err, election.ErrAlreadyStarted)
		}
	})
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestStartContextEnds: the context of Start is the life of the election; its values reach the
// work.
func TestStartContextEnds(t *testing.T) {
	type key struct{}
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		p := newPart()
		var err error
		if p.Election, err = session.Campaign(election.RoleConfig{Role: "scheduler", Lead: p.work}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "here"))
		if err := p.Start(ctx); err != nil {
			t.Fatal(err)
		}
		receive(t, "promotion", p.began)
		if v := receive(t, "context", p.ctxs).Value(key{}); v != "here" {
			t.Errorf("value %v", v)
		}
		cancel()
		<-p.Done()
		if err := receive(t, "cause", p.ended); !errors.Is(err, election.ErrSteppedDown) {
			t.Errorf("cause %v, want %v", err, election.ErrSteppedDown)
		}
	})
}

func TestElectionsEndWithTheContextThatTheyWereStartedWith(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		ctx, cancel := context.WithCancel(t.Context())
		begin := func(ctx context.Context, role string) *part {
			p := newPart()
			var err error
			if p.Election, err = session.Campaign(election.RoleConfig{Role: role, Lead: p.work}); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(ctx); err != nil {
				t.Fatal(err)
			}
			return p
		}
		var bound []*part
		for _, role := range []string{"one", "two", "three"} {
			bound = append(bound, begin(ctx, role))
		}
		free, other := begin(context.Background(), "free"), begin(t.Context(), "other")
		for _, p := range append(bound, free, other) {
			receive(t, "a promotion", p.began)
		}
		stop(t, bound[0])
		bound[0] = begin(ctx, "one") // bound once more, after the first one has let go
		receive(t, "the second promotion", bound[0].began)
		cancel()
		for _, p := range bound {
			receive(t, "the end of the work", p.ended)
			<-p.Done()
			if err := p.Err(); err != nil {
				t.Errorf("a clean end: %v", err)
			}
		}
		if late := begin(ctx, "late"); true { // its context has ended before it begins
			<-late.Done()
		}
		if !free.IsLeader() || !other.IsLeader() {
			t.Errorf("free leads: %v, other leads: %v; their contexts continue", free.IsLeader(), other.IsLeader())
		}
	})
}
