package election_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWidenKnowsEveryMember: workers, candidates and the leases that are gone; and none of the
// workers afterwards.
func TestWidenKnowsEveryMember(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		open := func(id string, worker bool) *election.Session {
			session, err := election.NewSession(election.SessionConfig{
				Bucket: "roles", BucketAutoCreate: true, InstanceID: id, TTL: time.Second, WorkerOnly: worker,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Open(t.Context(), nc); err != nil {
				t.Fatal(err)
			}
			return session
		}
		leader := open("leader", false)
		defer leader.Close(context.Background())
		for i := range 20 {
			defer open(fmt.Sprintf("worker-%d", i), true).Close(context.Background())
		}
		leaveMarker(t, s, "w.lease.gone")
		if n := len(leader.Members()); n != 1 {
			t.Errorf("a candidate sees %d members before it asks for the workers, want itself", n)
		}
		e, err := leader.Campaign(election.RoleConfig{Role: "scheduler"})
		if err != nil {
			t.Fatal(err)
		}
		led := make(chan uint64, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- e.Run(ctx, func(ctx context.Context, term *election.Term) error {
				led <- term.Epoch()
				<-ctx.Done()
				return nil
			})
		}()
		epoch := <-led
		widened, narrow := make(chan int, 1), make(chan struct{})
		err = leader.Attach("test", func(ctx context.Context, h election.Host) error {
			release, err := bridge.LeaseOf(h).(lease).Widen(ctx, "scheduler", epoch)
			if err != nil {
				return err
			}
			widened <- len(h.Members())
			<-narrow
			release()
			<-ctx.Done()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := <-widened; n != 21 {
			t.Errorf("sees %d members, want 21", n)
		}
		close(narrow)
		time.Sleep(5 * time.Second)
		if n := len(leader.Members()); n != 1 {
			t.Errorf("sees %d members after narrowing, want itself", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func leaveMarker(t *testing.T, s *natsrun.Server, key string) {
	t.Helper()
	js, err := jetstream.New(natstest.Connect(t, s))
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "roles")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(t.Context(), key, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}
