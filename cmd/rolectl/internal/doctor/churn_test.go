package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestChurnCountsForTheTimeOfTombstones: a killed session counts for twice the bucket's longest
// TTL, which the finding names. Older records, such as those of earlier versions, do not count.
func TestChurnCountsForTheTimeOfTombstones(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: "roles", MaxTTL: time.Minute}); err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		kv, err := js.KeyValue(t.Context(), "roles")
		if err != nil {
			t.Fatal(err)
		}
		for i := range manyKilled {
			tombstone := []byte(`{"v":1,"session":7,"ttl_ms":1000,"beat":3,"state":"killed","by":"a"}`)
			if _, err := kv.Put(t.Context(), fmt.Sprintf("c.lease.dead%d", i), tombstone); err != nil {
				t.Fatal(err)
			}
		}
		l, err := inventory.OpenRecords(t.Context(), nc, natskv.Reach{}, "roles", false, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		x := examination{s: &inventory.View{Records: l}, seen: &changes{beats: map[record.Peer]pulse{}}}
		for _, c := range []struct {
			after time.Duration
			level findings.Level
			says  string
		}{
			{110 * time.Second, findings.Warning, "others have ended 3 sessions within the last 2m: dead0, dead1, dead2"},
			{20 * time.Second, findings.OK, "others have ended 0 sessions within the last 2m, those not counted"},
		} {
			time.Sleep(c.after)
			x.List = nil
			x.churn(time.Second)
			if len(x.List) != 1 || x.List[0].Level != c.level || !strings.HasPrefix(x.List[0].Message, c.says) {
				t.Errorf("%v later: %+v, want %q", c.after, x.List, c.says)
			}
		}
	})
}

// TestChurnOfFixedIDs: a process that crashes and begins again under its id leaves no record of the
// session before. It counts all the same if the doctor has watched that, whether it waited for its
// lease or somebody has ended it. A session that was closed does not.
func TestChurnOfFixedIDs(t *testing.T) {
	t.Parallel()
	revision := uint64(0)
	lease := func(c *changes, instance string, l record.Lease) uint64 {
		revision++
		l.V, l.TTLms = record.Version, 1000
		key := record.LeaseKey(record.Peer{Class: record.Candidate, Instance: instance})
		entry := record.Decode(key, record.Encode(l), revision, false, time.Minute)
		c.observe(inventory.Record{Entry: entry, Key: key})
		return revision
	}
	for _, c := range []struct {
		ends record.LeaseState
		want int
	}{{record.Live, 3}, {record.Killed, 3}, {record.Idle, 3}, {record.Closed, 0}} {
		seen := &changes{beats: map[record.Peer]pulse{}}
		for range 4 {
			s := lease(seen, "f1", record.Lease{Nonce: "n", Beat: 1, State: record.Live})
			lease(seen, "f1", record.Lease{Nonce: "n", Session: s, Beat: 2, State: record.Live})
			lease(seen, "f1", record.Lease{Nonce: "n", Session: s, Beat: 3, State: c.ends})
		}
		if all := seen.restarts(); len(all) != c.want {
			t.Errorf("ended as %v: %q, want %d", c.ends, all, c.want)
		}
	}
}
