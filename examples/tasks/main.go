// Command tasks hands tasks out and runs them. With arguments it also submits each of them, a file
// to hash, and ends.
//
//	nats-server -js                          # or: go run ./cmd/rolectl dev
//	go run ./examples/tasks                  # in any number of terminals
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

// checksum is a kind of task: its input is a path, its output a digest. Its options travel with
// each submission.
var checksum = assign.NewKind[string, string]("checksum.v1", assign.MaxAttempts(5))

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	url := cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL)
	m, err := roles.New(roles.Config{URL: url, Bucket: "roles", BucketAutoCreate: true})
	if err != nil {
		log.Fatal(err)
	}
	a, err := assign.New(m.Session(), assign.Config{Namespace: "files", Role: "files", StreamAutoCreate: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := assign.Handle(a, checksum, hash); err != nil {
		log.Fatal(err)
	}
	name, lead := a.Role() // the role whose leader hands the tasks out
	if err := m.Add(roles.Role{Name: name, Lead: lead}); err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 1 {
		go func() {
			defer stop()
			submit(ctx, a, os.Args[1:])
		}()
	}
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// hash runs one attempt. An error is tried again; after the fifth one the task is dead.
func hash(_ context.Context, t *assign.Task[string]) (string, error) {
	data, err := os.ReadFile(t.Input)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// submit stores a task for each path, and waits for the one outcome of each.
func submit(ctx context.Context, a *assign.Assigner, paths []string) {
	pending, err := assign.SubmitBatch(ctx, a, checksum, paths)
	if err != nil {
		log.Print(err)
		return
	}
	for i, p := range pending {
		sum, err := p.Wait(ctx)
		if err != nil {
			log.Print(err)
			return
		}
		log.Printf("%s %s", sum, paths[i])
	}
}
