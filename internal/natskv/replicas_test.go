package natskv

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestReplicasWithoutACluster: the refusal says what to do about it.
func TestReplicasWithoutACluster(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	_, err := Create(t.Context(), nc, Config{Bucket: "b", Replicas: 3})
	if err == nil || !strings.Contains(err.Error(), "set Replicas to 1, or connect to a cluster") {
		t.Errorf("%v", err)
	}
}

// TestAReplicaIsMissing: one that has said farewell, that has been silent for long, or that has
// said nothing to a leader of long standing.
func TestAReplicaIsMissing(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		led     time.Duration // 0: the answer does not say so
		replica jetstream.PeerInfo
		missing bool
	}{
		"up to date":              {time.Hour, jetstream.PeerInfo{Current: true, Active: time.Second}, false},
		"heard of this moment":    {time.Hour, jetstream.PeerInfo{Current: true}, false},
		"behind":                  {time.Hour, jetstream.PeerInfo{Active: time.Second, Lag: 1}, false},
		"has said farewell":       {time.Hour, jetstream.PeerInfo{Current: true, Active: time.Second, Offline: true}, true},
		"silent":                  {time.Hour, jetstream.PeerInfo{Active: unheard + 1}, true},
		"never heard of":          {unheard + 1, jetstream.PeerInfo{Lag: 1}, true},
		"not yet heard of":        {unheard - 1, jetstream.PeerInfo{Lag: 1}, false},
		"a leader of unknown age": {0, jetstream.PeerInfo{Lag: 1}, false},
		"silent, by a new leader": {time.Second, jetstream.PeerInfo{Active: unheard + 1}, true},
	} {
		var a streamAnswer
		a.TimeStamp, a.Cluster = now, &jetstream.ClusterInfo{}
		if c.led > 0 {
			since := now.Add(-c.led)
			a.Cluster.LeaderSince = &since
		}
		if a.missing(&c.replica) != c.missing {
			t.Errorf("%s: missing %t", name, !c.missing)
		}
	}
}
