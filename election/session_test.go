package election_test

import (
	"context"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestSessionOpensLeadsAndCloses(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		session, err := election.NewSession(election.SessionConfig{
			Bucket: "roles", BucketAutoCreate: true, InstanceID: "a",
			TTL: time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Open(t.Context(), nc); err != nil {
			t.Fatal(err)
		}
		e, err := session.Campaign(election.RoleConfig{Role: "scheduler"})
		if err != nil {
			t.Fatal(err)
		}
		led := make(chan uint64, 1)
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			ended <- e.Run(ctx, func(ctx context.Context, term *election.Term) error {
				led <- term.Epoch()
				<-ctx.Done()
				return nil
			})
		}()
		t.Logf("led at epoch %d", <-led)
		if !e.IsLeader() || e.LeaderID() != "a" {
			t.Errorf("IsLeader %v, LeaderID %q", e.IsLeader(), e.LeaderID())
		}
		if ok, err := e.ValidateToken(t.Context()); !ok || err != nil {
			t.Errorf("ValidateToken: %v, %v", ok, err)
		}
		t.Logf("%+v", e.Status())
		time.Sleep(time.Minute)
		if !e.IsLeader() {
			t.Error("lost it within a quiet minute")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
