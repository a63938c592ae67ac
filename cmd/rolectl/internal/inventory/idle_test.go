package inventory

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestIdleMembersAreIdle: a member that idles for longer than its TTL, and beats, is idle in each
// view of the bucket, as of its last beat, and silent in each when it beats no more.
func TestIdleMembersAreIdle(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		kv := newBucket(t, nc)
		put := func(key string, rec any) uint64 {
			t.Helper()
			revision, err := kv.Put(t.Context(), key, record.Encode(rec))
			if err != nil {
				t.Fatal(err)
			}
			return revision
		}
		b := record.Peer{Class: record.Candidate, Instance: "b"}
		lease := record.Lease{V: 1, Nonce: "n", TTLms: 50000, Beat: 1, State: record.Live}
		lease.Session = put(record.LeaseKey(b), lease)
		lease.Beat, lease.State = 2, record.Idle
		at := put(record.LeaseKey(b), lease)
		beats := func() {
			t.Helper()
			lease.Beat++
			put(record.IdleKey(b), record.IdleBeat{
				V: 1, Session: lease.Session, Nonce: "n", Lease: at, Beat: lease.Beat, TTLms: 50000,
			})
		}
		for range 6 {
			time.Sleep(40 * time.Second)
			beats()
		}
		time.Sleep(3 * time.Second)
		for _, workers := range []bool{false, true} {
			var options []election.ObserveOption
			if workers {
				options = append(options, election.WithWorkers())
			}
			o, err := election.Observe(t.Context(), nc, "roles", options...)
			if err != nil {
				t.Fatal(err)
			}
			l, err := OpenRecords(t.Context(), nc, natskv.Reach{}, "roles", workers, nil)
			if err != nil {
				t.Fatal(err)
			}
			v := &View{o, l}
			defer v.Close()
			shows := func(when, state string, from, until float64) {
				t.Helper()
				all := v.DescribeMembers()
				if len(all) != 1 || all[0].State != state || all[0].HeartbeatSeconds < from || all[0].HeartbeatSeconds > until {
					t.Errorf("%s, with workers %v: %+v", when, workers, all)
				}
			}
			shows("at first", "idle", 2.9, 3.5)
			time.Sleep(20 * time.Second)
			beats()
			time.Sleep(time.Second)
			shows("after a beat", "idle", 0.9, 1.5)
			time.Sleep(time.Minute)
			shows("a minute later", "silent", 60.9, 61.5)
			beats()
			time.Sleep(3 * time.Second)
		}
	})
}
