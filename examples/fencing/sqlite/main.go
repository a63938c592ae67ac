// Command sqlite writes a row of a SQLite database while it leads a role. The row refuses the
// writes of former leaders.
//
//	nats-server -js                    # or: go run ./cmd/rolectl dev
//	cd examples/fencing/sqlite
//	go run . ledger.db                 # in two terminals
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

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 2 {
		log.Fatal("usage: sqlite DATABASE")
	}
	if err := run(ctx, cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// run contends for the role "billing" until ctx ends.
func run(ctx context.Context, url, database string) error {
	db, err := sql.Open("sqlite", database+"?_pragma=busy_timeout(5000)")
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
		var cents int64
		err := db.QueryRowContext(ctx, `SELECT cents FROM account WHERE name = 'total'`).Scan(&cents)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := l.put(ctx, "total", cents+1); err != nil {
			return fmt.Errorf("write at epoch %d: %w", l.epoch, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
	}
}
