// Command worker-only runs tasks and takes part in no role: any number of such processes cost the
// candidates nothing.
//
//	nats-server -js                          # or: go run ./cmd/rolectl dev
//	go run ./examples/tasks                  # leads the role, and hands out
//	go run ./examples/worker-only            # in any number of terminals
//	go run ./examples/tasks go.mod go.sum
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/roles"
)

// checksum has the name and the types that the submitter gives it; retries and limits come with
// each task.
var checksum = assign.NewKind[string, string]("checksum.v1")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	url := cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL)
	m, err := roles.New(roles.Config{URL: url, Bucket: "roles", BucketAutoCreate: true, WorkerOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	// Role names the role whose leader hands the tasks out; this process never leads it.
	a, err := assign.New(m.Session(), assign.Config{
		Namespace: "files", Role: "files", StreamAutoCreate: true, Slots: 8, Labels: map[string]string{"disk": "fast"},
	})
	if err != nil {
		log.Fatal(err)
	}
	err = assign.Handle(a, checksum, func(_ context.Context, t *assign.Task[string]) (string, error) {
		data, err := os.ReadFile(t.Input)
		sum := sha256.Sum256(data)
		log.Printf("hashed %s, attempt %d", t.Input, t.Attempt())
		return hex.EncodeToString(sum[:]), err
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
