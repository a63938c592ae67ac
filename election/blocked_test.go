package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestBlockedLeaderCallback: a callback that does not return cannot keep a session open.
func TestBlockedLeaderCallback(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, _ := election.NewSession(instance("a"))
		if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatal(err)
		}
		block := make(chan struct{})
		p := newPart()
		e, err := session.Campaign(election.RoleConfig{Role: "r", Lead: p.work, OnLeaderChange: func(string) { <-block }})
		if err != nil {
			t.Fatal(err)
		}
		p.Election = e
		_ = e.Start(t.Context())
		receive(t, "promotion", p.began)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		err = session.Close(ctx)
		t.Logf("close: %v", err)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("callback: session never done")
		}
		close(block)
		<-session.Done()
	})
}

// TestBlockedAttachment: nor can an attachment that ignores its context.
func TestBlockedAttachment(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, _ := election.NewSession(instance("a"))
		if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatal(err)
		}
		block, in := make(chan struct{}), make(chan struct{})
		_ = session.Attach("x", func(context.Context, election.Host) error { close(in); <-block; return nil })
		<-in
		p := newPart()
		e, _ := session.Campaign(election.RoleConfig{Role: "r", Lead: p.work})
		p.Election = e
		_ = e.Start(t.Context())
		receive(t, "promotion", p.began)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		err := session.Close(ctx)
		t.Logf("close: %v leader still %v", err, e.IsLeader())
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("attachment: Close did not end")
		}
		close(block)
		<-session.Done()
	})
}

// TestCutOffLeaderNamesNobody: who leads is not known to a process that is cut off, once its own
// trust has ended, and OnLeaderChange is told.
func TestCutOffLeaderNamesNobody(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		told := make(chan string, 16) // more than there are changes
		session := open(t, s, instance("a"), append(link.Options(), nats.MaxReconnects(-1))...)
		p, term := lead(t, session, election.RoleConfig{Role: "r", OnLeaderChange: func(leader string) { told <- leader }})
		if leader := receive(t, "the first leader", told); leader != "a" || p.LeaderID() != "a" {
			t.Errorf("told %q, leader %q", leader, p.LeaderID())
		}
		link.Cut()
		receive(t, "the end of the work", p.ended)
		time.Sleep(time.Second)
		if leader := p.LeaderID(); leader != "" || term.Valid() || p.Status().LeaderID != "" {
			t.Errorf("cut off, it names %q", leader)
		}
		if leader := receive(t, "nobody", told); leader != "" {
			t.Errorf("told %q", leader)
		}
		link.Heal()
		receive(t, "it leads again", p.began)
		natstest.Eventually(t, "it names itself", time.Minute, func() (bool, string) {
			return p.LeaderID() == "a", p.LeaderID()
		})
	})
}
