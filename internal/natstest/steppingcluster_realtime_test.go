//go:build realtime

package natstest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRealtimeSteppedClockOfOneInCluster: on three replicas a message has the time of the server
// that leads its stream, whichever server that is. The clocks of the others do not matter.
func TestRealtimeSteppedClockOfOneInCluster(t *testing.T) {
	c := natstest.SteppingCluster(t)
	js := natstest.JetStream(t, c)
	kv := steppedBucket(t, js, c.Size())
	aheadBy := []time.Duration{0, 30 * time.Second, -30 * time.Second}
	for i, d := range aheadBy {
		if _, err := c.Process(i).Step(d); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	for i, d := range aheadBy {
		if err := c.MoveLeader(ctx, js.Conn(), "KV_b", i); err != nil {
			t.Fatal(err)
		}
		storedAhead(t, kv, d, fmt.Sprintf("n%d leads, whose clock is %v ahead", i, d))
	}
}
