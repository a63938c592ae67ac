package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/rolemanager/rolemanager/fencing"
)

// schema has a fence for each role and one for each row.
const schema = `
CREATE TABLE IF NOT EXISTS fence   (role text PRIMARY KEY, epoch bigint NOT NULL);
CREATE TABLE IF NOT EXISTS account (name text PRIMARY KEY, cents bigint NOT NULL, fence bigint NOT NULL);`

// raise shuts out all earlier terms before this one has read or written anything.
const raise = `
INSERT INTO fence (role, epoch) VALUES ($1, $2)
ON CONFLICT (role) DO UPDATE SET epoch = excluded.epoch WHERE fence.epoch <= excluded.epoch`

// put inserts a row or changes it. FOR SHARE keeps the fence of the role where it is until this
// write is committed: the next term raises it after that, and reads what was written. If that term
// was first, PostgreSQL compares again with what it has committed.
const put = `
WITH term AS (SELECT FROM fence WHERE role = $4 AND epoch = $3 FOR SHARE)
INSERT INTO account (name, cents, fence) SELECT $1, $2::bigint, $3 FROM term
ON CONFLICT (name) DO UPDATE SET cents = excluded.cents, fence = excluded.fence WHERE account.fence <= excluded.fence`

// errStale says that a later term has raised the fence: this process must stop its work.
var errStale = errors.New("ledger: a later term has written")

// ledger is the database as one term may use it.
type ledger struct {
	db    *sql.DB
	role  string
	epoch int64
}

// open raises the role's fence to the epoch of a term.
func open(ctx context.Context, db *sql.DB, t fencing.Token) (*ledger, error) {
	if t.Epoch > math.MaxInt64 { // a bigint has a sign; today's epochs are below 2^51
		return nil, fmt.Errorf("ledger: epoch %d has more than 63 bits", t.Epoch)
	}
	l := &ledger{db: db, role: t.Role, epoch: int64(t.Epoch)}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	return l, l.fenced(ctx, raise, l.role, l.epoch)
}

// read is what an account has, and 0 if it is not there.
func (l *ledger) read(ctx context.Context, account string) (cents int64, err error) {
	err = l.db.QueryRowContext(ctx, `SELECT cents FROM account WHERE name = $1`, account).Scan(&cents)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return cents, err
}

func (l *ledger) put(ctx context.Context, account string, cents int64) error {
	return l.fenced(ctx, put, account, cents, l.epoch, l.role)
}

// fenced runs a statement that changes one row. If no row was affected, the fence has refused it.
func (l *ledger) fenced(ctx context.Context, statement string, args ...any) error {
	result, err := l.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return errStale
	}
	return err
}
