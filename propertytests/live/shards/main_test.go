//go:build realtime

package shards

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// These make this binary a process that leads shards, on that server, under that name.
const (
	childURL    = "ROLEMANAGER_SHARDS_URL"
	childName   = "ROLEMANAGER_SHARDS_NAME"
	childShards = "ROLEMANAGER_SHARDS"
	childCPU    = "ROLEMANAGER_SHARDS_PROFILE" // a folder for its profile
)

const (
	bucket = "roles"
	group  = "orders"
	ttl    = 2 * time.Second
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		if err := child(url, os.Getenv(childName)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	natstest.Main(m)
}

// child leads shards until it is told to end.
func child(url, name string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	n, err := strconv.Atoi(os.Getenv(childShards))
	if err != nil {
		return err
	}
	if dir := os.Getenv(childCPU); dir != "" {
		f, err := os.Create(fmt.Sprintf("%s/%s.%d.prof", dir, name, os.Getpid()))
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		return err
	}
	defer nc.Close()
	m, err := roles.New(
		roles.Config{Conn: nc, Bucket: bucket, BucketAutoCreate: true, InstanceID: name, TTL: ttl},
		roles.Shards(group, n, func(ctx context.Context, _ int, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})...,
	)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}
