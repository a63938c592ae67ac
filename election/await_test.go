package election

import (
	"context"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestOpenWhileItEnds: the session is open and leads when Open learns that ctx has ended. Which of
// both it looks at first is a matter of chance. It has opened: nothing but Close ends it, which
// waits for the work.
func TestOpenWhileItEnds(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, err := NewSession(SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatal(err)
		}
		terms := make(chan *Term, 1)
		e, err := session.Campaign(RoleConfig{Role: "r", Lead: func(ctx context.Context, term *Term) error {
			terms <- term
			<-ctx.Done()
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		term := <-terms
		ended, end := context.WithCancel(t.Context())
		end()
		for range 30 {
			if err := session.await(ended, session.loop); err != nil || !term.Valid() {
				t.Fatalf("it ends: %v", err)
			}
		}
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
