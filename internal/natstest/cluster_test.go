package natstest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

const clusterStream = "EVENTS"

// TestClusterForms is the short run: a cluster forms, replicates a stream, and moves its leader.
// The long runs need the realtime tag.
func TestClusterForms(t *testing.T) {
	began := time.Now()
	c := natstest.Cluster(t)
	t.Logf("ready after %v", time.Since(began).Round(time.Millisecond))
	js := replicated(t, c)
	publish(t, js, 20)
	began = time.Now()
	from, to := moveLeader(t, c)
	t.Logf("leader moved from n%d to n%d in %v", from, to, time.Since(began).Round(time.Millisecond))
	publish(t, js, 20)
	expectMessages(t, js, 40)
}

// patient are the options of a client that survives everything, and stays where it was sent.
func patient() []nats.Option {
	return []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond), nats.IgnoreDiscoveredServers()}
}

// replicated returns a client of the cluster, and makes the stream with a replica in files on each
// server.
func replicated(t *testing.T, c *natsrun.Cluster) jetstream.JetStream {
	t.Helper()
	js := natstest.JetStream(t, c, patient()...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: clusterStream, Subjects: []string{"events.>"}, Replicas: c.Size(), Storage: jetstream.FileStorage,
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitStream(ctx, clusterStream); err != nil {
		t.Fatal(err)
	}
	return js
}

// moveLeader makes another server lead the stream. A server that has stepped down may be elected
// again, and a busy machine may bring an election at any moment. It is then asked once more.
func moveLeader(t *testing.T, c *natsrun.Cluster) (from, to int) {
	t.Helper()
	natstest.Eventually(t, "the leader moves", 5*time.Minute, func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var err error
		from, to, err = c.MoveLeader(ctx, clusterStream)
		return err == nil, fmt.Sprint(err)
	})
	return from, to
}

// publish stores n messages, each once: a message that was stored without an acknowledgement is
// recognized by its id.
func publish(t *testing.T, js jetstream.JetStream, n int) {
	t.Helper()
	for range n {
		id := fmt.Sprint(time.Now().UnixNano())
		natstest.Eventually(t, "a message is acknowledged", time.Minute, func() (bool, string) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := js.Publish(ctx, "events.a", []byte(id), jetstream.WithMsgID(id))
			return err == nil, fmt.Sprint(err)
		})
	}
}

// expectMessages waits until the stream reports n messages.
func expectMessages(t *testing.T, js jetstream.JetStream, n uint64) {
	t.Helper()
	natstest.Eventually(t, fmt.Sprintf("the stream holds %d messages", n), time.Minute, func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		st, err := js.Stream(ctx, clusterStream)
		if err != nil {
			return false, err.Error()
		}
		got := st.CachedInfo().State.Msgs
		return got == n, fmt.Sprintf("%d messages", got)
	})
}
