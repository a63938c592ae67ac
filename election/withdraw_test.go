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

// TestANewLeaseOffersNothing, also when the watch shows it before the loop has come to what others
// ask of it: no record of it names what was offered under the last one.
func TestANewLeaseOffersNothing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		described := make(chan struct{})
		session, err := NewSession(SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Attach("worker", func(ctx context.Context, h Host) error {
			select {
			case <-described:
			default:
				if err := h.lease.Describe(ctx, "ns", &Workplace{Slots: 1, Kinds: []string{"k"}}); err != nil {
					t.Error(err)
				}
				close(described)
			}
			<-ctx.Done()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close(context.Background()) })
		<-described
		natstest.Settle(t)
		offers := make(chan bool, 1)
		session.box.Put(message{run: func(m *protocol.Machine, _ record.Now) {
			l, offered := session.loop, false
			former := session.number.Load()
			l.step(protocol.Abandon{Session: former, Reason: "for a test"})
			for until := time.Now().Add(time.Second); time.Now().Before(until); {
				select {
				case b := <-l.watcher.out:
					for _, ev := range b.events {
						if e, ok := ev.(protocol.Delivered); ok && e.Kind == record.KindMember && e.Form == record.FormRecord &&
							e.Member.Session > former {
							offered = offered || len(e.Member.Assign) > 0
						}
						l.step(ev)
					}
				case <-time.After(100 * time.Millisecond):
				}
			}
			offers <- offered
		}})
		if <-offers {
			t.Error("the record of the next lease names what was offered under the last one")
		}
		if session.number.Load() == 0 {
			t.Error("there is no other lease")
		}
	})
}
