//go:build realtime

package live_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestRealtimeClusterClaimLost: what is lost as in TestRealtimeClusterCommittedLost is the claim of
// a role that was vacant, and not the lease of the process that has claimed it, since that beats
// once a minute. The third server stays down, so that no watch proves the loss; others write as
// much again. Somebody else claims the role. The process that had claimed the role first does not
// lead it afterwards.
func TestRealtimeClusterClaimLost(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	playEach(t, "a committed claim lost, by a replica that has lost its tail and one that was down", loseClaim)
}

func loseClaim(t *testing.T, _ int, all *counts) {
	r := &restored{t: t, dir: t.TempDir()}
	r.c = natstest.Cluster(t, func(o *natsrun.ClusterOptions) { o.Dir = r.dir })
	cfg := natskv.Config{Bucket: elections.Bucket, Replicas: 3, Storage: jetstream.FileStorage, MaxTTL: 10 * time.Minute}
	if _, err := natskv.Create(t.Context(), r.connect(), cfg); err != nil {
		t.Fatal(err)
	}
	former := r.join("former") // leads it, and gives it away in order
	r.leads(former, "later")
	if err := former.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := election.NewSession(election.SessionConfig{
		Bucket: elections.Bucket, InstanceID: "a", TTL: 5 * time.Minute, HeartbeatInterval: time.Minute,
		OpTimeout: 2 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	if err := s.Open(t.Context(), r.connect()); err != nil {
		t.Fatal(err)
	}
	r.leads(s, "first") // so it beats as often as it ever does

	third := streamLeader(t, r.c, -1)
	loses, lags := (third+1)%r.c.Size(), (third+2)%r.c.Size()
	putBack := keepStore(t, r.c, loses)
	r.c.Stop(lags)
	streamLeader(t, r.c, lags)
	for i := range 60 {
		r.put(fmt.Sprint("probe.", i))
	}
	first := r.leads(s, "later")
	lost := first.Token().Epoch
	r.c.Kill(loses)
	putBack()
	r.c.Kill(third)
	for _, i := range []int{loses, lags} {
		if err := r.c.Restart(i); err != nil {
			t.Fatal(err)
		}
	}
	streamLeader(t, r.c, third)
	second := r.leads(r.join("c"), "later")
	if second.Token().Epoch >= lost {
		t.Fatalf("epoch %d comes after %d: nothing was lost", second.Token().Epoch, lost)
	}
	for i := range 100 {
		r.put(fmt.Sprint("probe.", i))
	}
	began := time.Now()
	natstest.Eventually(t, "the first to claim the role does not lead it any more", patience, func() (bool, string) {
		return !first.IsLeader(), fmt.Sprintf("at epochs %d and %d; the session: %v", first.Token().Epoch,
			second.Token().Epoch, s.Err())
	})
	t.Logf("%v after others had written as much again", time.Since(began).Round(time.Millisecond))
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if first.IsLeader() {
			t.Fatalf("it leads again, at epoch %d", first.Token().Epoch)
		}
	}
	if !second.IsLeader() {
		t.Error("nobody leads it")
	}
	all.add(1, "committed claims lost")
}
