// Command fencing shows two places that refuse the requests of a former leader: a Guard before a
// resource of your own, and a Store, which is a bucket where the server itself refuses. The process
// leads a role twice, and a request of its first term arrives during the second, as it would after
// a pause.
//
//	nats-server -js                    # or: go run ./cmd/rolectl dev
//	go run ./examples/fencing
package main

import (
	"cmp"
	"context"
	"errors"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/roles"
)

// printer is a resource. Its guard refuses tokens that are older than the latest one admitted.
type printer struct{ guard fencing.Guard }

func (p *printer) print(token fencing.Token, page string) error {
	return p.guard.Do(token, func() error {
		log.Printf("printed %s for epoch %d", page, token.Epoch)
		return nil
	})
}

type app struct {
	js      jetstream.JetStream
	printer printer
	late    func(context.Context) // sends a request of the first term, nil during that
	stop    func()
}

func (a *app) lead(ctx context.Context, t *election.Term) error {
	token := t.Token()
	// OpenStore seals the bucket for this term: the server now refuses writes of earlier terms.
	store, err := fencing.OpenStore(ctx, a.js, "ledger", token, fencing.WithCreate(1))
	if err != nil {
		return err
	}
	if _, err := store.Put(ctx, "last-page", []byte("page 1")); err != nil {
		return err
	}
	if err := a.printer.print(token, "page 1"); err != nil {
		return err
	}
	if a.late == nil {
		a.late = func(ctx context.Context) {
			_, err := store.Put(ctx, "last-page", []byte("page 2"))
			log.Printf("stale for the store: %t: %v", errors.Is(err, fencing.ErrStale), err)
			err = a.printer.print(token, "page 2")
			log.Printf("stale for the guard: %t: %v", errors.Is(err, fencing.ErrStale), err)
		}
		return nil // this gives the role up; after a cool-down of one TTL the process leads again
	}
	a.late(ctx)
	a.stop() // that was all
	return nil
}

func main() {
	ctx, stop := context.WithCancel(context.Background())
	nc, err := nats.Connect(cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL))
	if err != nil {
		log.Fatalf("connect to NATS (start nats-server -js, or set NATS_URL): %v", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	a := &app{js: js, stop: stop}
	cfg := roles.Config{Conn: nc, Bucket: "roles", BucketAutoCreate: true, TTL: time.Second}
	m, err := roles.New(cfg, roles.Role{Name: "printing", Lead: a.lead})
	if err != nil {
		log.Fatal(err)
	}
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
