package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/rolemanager/rolemanager/fencing"
	_ "modernc.org/sqlite"
)

// schema has a fence for each role and one for each row. An INTEGER has 64 bits with a sign.
const schema = `
CREATE TABLE IF NOT EXISTS fence   (role TEXT PRIMARY KEY, epoch INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, cents INTEGER NOT NULL, fence INTEGER NOT NULL);`

// raise shuts out all earlier terms before this one has written anything.
const raise = `
INSERT INTO fence (role, epoch) VALUES (?1, ?2)
ON CONFLICT (role) DO UPDATE SET epoch = excluded.epoch WHERE epoch <= excluded.epoch`

// update changes a row that exists. SET fence makes the row refuse earlier terms afterwards:
// without it nothing would.
const update = `
UPDATE account SET cents = ?2, fence = ?3 WHERE name = ?1 AND fence <= ?3`

// put inserts a row or changes it. A row that is not there has no fence, so the role's fence is
// asked.
const put = `
INSERT INTO account (name, cents, fence) SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM fence WHERE role = ?4 AND epoch = ?3)
ON CONFLICT (name) DO UPDATE SET cents = excluded.cents, fence = excluded.fence WHERE fence <= excluded.fence`

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
	if t.Epoch > math.MaxInt64 { // SQLite has no unsigned numbers; today's epochs are below 2^51
		return nil, fmt.Errorf("ledger: epoch %d has more than 63 bits", t.Epoch)
	}
	l := &ledger{db: db, role: t.Role, epoch: int64(t.Epoch)}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	return l, l.fenced(ctx, raise, l.role, l.epoch)
}

func (l *ledger) update(ctx context.Context, account string, cents int64) error {
	return l.fenced(ctx, update, account, cents, l.epoch)
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
