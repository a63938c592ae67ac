// Command singleton does its work in one process at a time, however many are started.
//
//	nats-server -js                    # or: go run ./cmd/rolectl dev
//	go run ./examples/singleton        # in two terminals; then stop the leader with Ctrl-C, or with kill -9
package main

import (
	"cmp"
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	url := cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL)
	m, err := roles.New(
		roles.Config{URL: url, Bucket: "roles", BucketAutoCreate: true},
		roles.Role{Name: "scheduler", Lead: lead},
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// lead is the work: it is called when this process wins the role, and returns when its context
// ends.
func lead(ctx context.Context, t *election.Term) error {
	log.Printf("process %d: leading %s at epoch %d", os.Getpid(), t.Role(), t.Epoch())
	<-ctx.Done()
	log.Printf("process %d: stopped leading %s: %v", os.Getpid(), t.Role(), context.Cause(ctx))
	return nil
}
