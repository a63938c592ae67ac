package adoption_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/adoption"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestEverySessionHasEnded: when an adoption removes the records of a bucket, no process believes
// in its session any more. A leader that is connected has ended, and so has a candidate at rest,
// since their leases are revoked; and a leader that is cut off has, since it was waited for as long
// as any session may last. Each of them opens a session of the adopted bucket.
func TestEverySessionHasEnded(t *testing.T) {
	for name, cut := range map[string]bool{"connected": false, "cut off": true} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) { ended(t, s, cut) })
		})
	}
}

func ended(t *testing.T, s *natsrun.Server, cut bool) {
	f, operator, link := newFleet(t, s), natstest.Connect(t, s), s.Link()
	f.start("leader", append(link.Options(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.PingInterval(time.Second), nats.ReconnectBufSize(-1))...)
	before := f.led("somebody leads", 0)
	f.start("idle")
	time.Sleep(2 * ttl)
	js, err := jetstream.New(operator)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	lease := func(id string) (l record.Lease) {
		t.Helper()
		key := record.LeaseKey(record.Peer{Class: record.Candidate, Instance: id})
		m, err := kept.GetLastMsgForSubject(t.Context(), "$KV."+bucket+"."+key)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(m.Data, &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	opened := map[string]uint64{}
	for _, id := range []string{"leader", "idle"} {
		l := lease(id)
		if !l.Alive() {
			t.Fatalf("%s has no session: %+v", id, l)
		}
		opened[id] = l.Session
	}
	var waits time.Time
	result, err := adoption.Run(t.Context(), adoption.Config{
		Conn: operator, Bucket: bucket,
		Before: func(step adoption.Step) error {
			switch step {
			case adoption.Mark:
				if cut {
					link.Cut()
				}
			case adoption.Wait:
				waits = time.Now()
				for id := range opened {
					if l := lease(id); l.State != record.Revoked || l.Session != opened[id] {
						t.Errorf("the lease of %s is not revoked: %+v", id, l)
					}
				}
			case adoption.Purge:
				if waited := time.Since(waits); waited < most {
					t.Errorf("waited for %v, want %v", waited, most)
				}
				if before.Valid() {
					t.Error("the leader believes in its session, the records of which are about to go")
				}
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Revoked != len(opened) || result.Waited != most {
		t.Errorf("%d leases were revoked, want %d; waited for %v, want %v", result.Revoked, len(opened), result.Waited, most)
	}
	link.Heal()
	f.led("somebody leads the adopted bucket", result.Floor)
	time.Sleep(3 * ttl)
	for id, former := range opened {
		if l := lease(id); !l.Alive() || l.Session < result.Floor {
			t.Errorf("%s had session %d, and has after floor %d: %+v", id, former, result.Floor, l)
		}
	}
	f.check()
}
