package natskv

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// Creators on every server create one bucket. When the leader of its stream dies, writes end
// Unknown until there is a new leader, and never as if the bucket were gone.
func TestReplicatedBucketOutlivesItsLeader(t *testing.T) {
	t.Parallel()
	cluster := natstest.Cluster(t)
	conns := make([]*nats.Conn, cluster.Size())
	buckets := make([]*Bucket, cluster.Size())
	var all sync.WaitGroup
	for i := range conns {
		conns[i] = connect(t, cluster.URL(i), nats.DontRandomize())
		all.Go(func() {
			var err error
			if buckets[i], err = Create(within(t), conns[i], Config{Bucket: "b", Replicas: 3}); err != nil {
				t.Errorf("creator %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	_, err := Create(within(t), conns[0], Config{Bucket: "five", Replicas: 5})
	if err == nil || Permanent(err) || !strings.Contains(err.Error(), "start those that are down") {
		t.Errorf("five replicas on three servers: %v", err)
	}
	var state State
	natstest.Eventually(t, "the other replicas are up to date", 2*time.Minute, func() (bool, string) {
		state, err = buckets[0].Inspect(t.Context())
		return err == nil && state.Leader != "" && state.Offline == 0 && state.Lagging == 0,
			fmt.Sprintf("%+v, %v", state, err)
	})
	if state.Replicas != 3 {
		t.Fatalf("state %+v", state)
	}
	leader := 0
	for i := range conns {
		if cluster.Server(i).Running().Name() == state.Leader {
			leader = i
		}
	}
	survivor := (leader + 1) % cluster.Size()
	w := newWriter(t, conns[survivor], buckets[survivor])
	seen := newWatch(t, conns[survivor], buckets[survivor], "")
	snapshot(t, seen)
	rev := mustWin(t, w, Write{Key: "k"})
	if u := next(t, seen); u.Entries[0].Revision != rev {
		t.Errorf("saw %+v, wrote %d", u, rev)
	}
	cluster.Stop(leader)
	start, unknown := time.Now(), 0
	natstest.Eventually(t, "a write is won again", 5*time.Minute, func() (bool, string) {
		r := write(t, w, Write{Key: fmt.Sprint("after.", unknown)}, time.Second)
		if r.Outcome == Won {
			return true, ""
		}
		unknown++
		if Permanent(r.Err) {
			t.Errorf("without a leader: %v", r.Err)
		}
		now, err := buckets[survivor].Inspect(t.Context())
		return false, fmt.Sprintf("%v: %v; %s led; now %+v, %v", r.Outcome, r.Err, state.Leader, now, err)
	})
	t.Logf("%d writes unknown, won again after %v", unknown, time.Since(start))
	// Both records are there. A new watch needs JetStream's own leader, which may have been the
	// same server. A replica that lags may serve the watch; the later record then comes after the
	// snapshot.
	var again *Watch
	eventually(t, "a watch is made", func() bool {
		again, err = buckets[survivor].Watch(within(t), conns[survivor], "")
		if Permanent(err) {
			t.Errorf("without a leader: %v", err)
		}
		return err == nil
	})
	t.Cleanup(again.Close)
	for got := snapshot(t, again); len(got) < 2; {
		got = append(got, next(t, again).Entries...)
	}
}
