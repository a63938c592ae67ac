package natstest

import (
	"context"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// formWithin bounds how long a cluster may take until it is ready: a few elections of 4 to 9 s each on a busy machine.
const formWithin = 90 * time.Second

// Cluster starts three servers (or as the options say), waits until streams can be made on them, and shuts them down
// when the test ends. Not for bubbles: routes need sockets.
func Cluster(tb testing.TB, opts ...func(*natsrun.ClusterOptions)) *natsrun.Cluster {
	tb.Helper()
	var o natsrun.ClusterOptions
	for _, opt := range opts {
		opt(&o)
	}
	c, err := natsrun.StartCluster(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Shutdown(); err != nil {
			tb.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(tb.Context(), formWithin)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		tb.Fatal(err)
	}
	return c
}
