// Command postgres counts in a row of a PostgreSQL database while it leads a role. The row refuses
// the writes of former leaders.
//
//	nats-server -js                    # or: go run ./cmd/rolectl dev
//	cd examples/postgres
//	go run . postgres://localhost/app  # in two terminals
package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 2 {
		log.Fatal("usage: postgres postgres://HOST/DATABASE")
	}
	if err := run(ctx, cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// run contends for the role "billing" until ctx ends.
func run(ctx context.Context, url, database string) error {
	db, err := sql.Open("pgx", database)
	if err != nil {
		return err
	}
	m, err := roles.New(roles.Config{URL: url, Bucket: "roles", BucketAutoCreate: true, TTL: 2 * time.Second},
		roles.Role{Name: "billing", Lead: func(ctx context.Context, t *election.Term) error { return bill(ctx, db, t) }})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(m.Run(ctx), db.Close())
}

// bill counts up in the account "total" until the term ends.
func bill(ctx context.Context, db *sql.DB, t *election.Term) error {
	l, err := open(ctx, db, t.Token())
	if err != nil {
		return err
	}
	for {
		cents, err := l.read(ctx, "total")
		if err == nil {
			err = l.put(ctx, "total", cents+1)
		}
		if err != nil {
			return fmt.Errorf("count at epoch %d: %w", t.Epoch(), err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
	}
}
