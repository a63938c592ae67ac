package election

import (
	"context"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestWhileTheOtherSessionHangs: the loop of the session that has the other role does nothing any
// more. At its deadline neither term is valid, by the clock alone, and the work that depends on it
// is told to end by the loop of its own session.
func TestWhileTheOtherSessionHangs(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		terms := make(chan *Term, 2)
		work := func(ctx context.Context, term *Term) error {
			terms <- term
			<-ctx.Done()
			return nil
		}
		part := func(bucket string, ttl time.Duration, cfg RoleConfig) *Election {
			session, err := NewSession(SessionConfig{Bucket: bucket, BucketAutoCreate: true, InstanceID: "a", TTL: ttl})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = session.Close(context.Background()) })
			if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
				t.Fatal(err)
			}
			cfg.Lead = work
			e, err := session.Campaign(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			return e
		}
		local := part("dc1", time.Second, RoleConfig{Role: "local"})
		lower := <-terms
		part("roles", time.Minute, RoleConfig{Role: "global", While: local})
		upper := <-terms

		hangs, begun := make(chan struct{}), make(chan struct{})
		local.session.box.Put(message{run: func(*protocol.Machine, record.Now) {
			close(begun)
			<-hangs
		}})
		<-begun
		defer close(hangs)
		if !upper.Valid() || upper.until() != lower.until() {
			t.Errorf("valid %v until %v, and the other term until %v", upper.Valid(), upper.until(), lower.until())
		}
		time.Sleep(lower.trust.left())
		if lower.over.Load() {
			t.Fatal("the loop of the other session has ended its term")
		}
		if lower.Valid() || upper.Valid() {
			t.Errorf("at the deadline of the other session: valid %v, %v", lower.Valid(), upper.Valid())
		}
		select {
		case <-upper.ctx.Done():
		case <-time.After(time.Second):
			t.Error("the work continues")
		}
	})
}
