package natstest

import (
	"context"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// formWithin bounds how long a cluster may take until it is ready: a few elections of 4 to 9 s each
// on a busy machine.
const formWithin = 90 * time.Second

// Cluster starts three servers (or as many as the options say), waits until streams can be made on
// them, and shuts them down when the test ends. In a short run (go test -short) it skips the test
// instead. It does not work in bubbles, because routes need sockets.
func Cluster(tb testing.TB, opts ...func(*natsrun.ClusterOptions)) *natsrun.Cluster {
	tb.Helper()
	return formed(tb, func() (*natsrun.Cluster, error) { return natsrun.StartCluster(build(opts)) })
}

// SteppingCluster is Cluster with three servers like SteppingServer's: each has a wall clock of its
// own.
func SteppingCluster(tb testing.TB) *natsrun.ProcessCluster {
	tb.Helper()
	return formed(tb, func() (*natsrun.ProcessCluster, error) {
		return natsrun.StartProcessCluster([]string{steppingProgram(tb)}, natsrun.ClusterOptions{Dir: tb.TempDir()})
	})
}

// forming is a cluster, wherever its servers run.
type forming interface {
	shutter
	WaitReady(ctx context.Context) error
}

// formed starts a cluster and waits until it is whole. The skip comes before the start, which may
// take as long as the forming.
func formed[C forming](tb testing.TB, start func() (C, error)) C {
	tb.Helper()
	if testing.Short() {
		tb.Skip("a cluster takes seconds to form")
	}
	c, err := start()
	shutAtEnd(tb, c, err)
	ready(tb, c)
	return c
}

// ready waits until a cluster is whole.
func ready(tb testing.TB, c forming) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), formWithin)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		tb.Fatal(err)
	}
}

// Supercluster starts several clusters with gateways between them, waits until streams can be made
// in each of them, and shuts them down when the test ends. In a short run it skips the test.
func Supercluster(tb testing.TB, opts natsrun.SuperclusterOptions) *natsrun.Supercluster {
	tb.Helper()
	return formed(tb, func() (*natsrun.Supercluster, error) { return natsrun.StartSupercluster(opts) })
}

// linkWithin bounds how long leaf nodes may take to connect; it takes milliseconds.
const linkWithin = 30 * time.Second

// Hub starts a hub and its leaf nodes, waits until they are connected, and shuts them down when the
// test ends. It does not work in bubbles, because leaf nodes need sockets.
func Hub(tb testing.TB, opts natsrun.HubOptions) *natsrun.Hub {
	tb.Helper()
	h, err := natsrun.StartHub(opts)
	shutAtEnd(tb, h, err)
	Linked(tb, h)
	return h
}

// Linked waits until every leaf node of the hub is connected.
func Linked(tb testing.TB, h *natsrun.Hub) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), linkWithin)
	defer cancel()
	if err := h.WaitLinked(ctx); err != nil {
		tb.Fatal(err)
	}
}

// Hears waits until a leaf node knows that somebody at the hub listens to a subject. Before, a
// question that is asked at the leaf node has no answer.
func Hears(tb testing.TB, leaf *natsrun.Leaf, subject string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), linkWithin)
	defer cancel()
	if err := leaf.WaitHears(ctx, subject); err != nil {
		tb.Fatal(err)
	}
}
