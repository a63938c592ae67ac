package main

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/fencing"
)

func opened(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func token(epoch uint64) fencing.Token {
	return fencing.NewToken("billing", "node", epoch, 0, uuid.Nil)
}

func term(t *testing.T, db *sql.DB, epoch uint64) *ledger {
	t.Helper()
	l, err := open(t.Context(), db, token(epoch))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func expect(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// holds fails the test if the account has something else.
func holds(t *testing.T, l *ledger, account string, want int64) {
	t.Helper()
	if cents, err := l.read(t.Context(), account); err != nil || cents != want {
		t.Errorf("%s has %d, %v, want %d", account, cents, err, want)
	}
}

// TestLateWrite is the race. A leader reads 1, and the network holds up its write of 2. Its term
// ends. The next leader reads 1 too, and counts to 3. Then the write of 2 arrives. Without a fence
// it takes away what the next leader has counted, and with one it affects 0 rows.
func TestLateWrite(t *testing.T) {
	const update = `UPDATE account SET cents = $2::bigint WHERE name = $1 AND $3::bigint > 0 AND $4::text > ''`
	network := connect(t)
	ctx, db, direct := t.Context(), opened(t, network.url), opened(t, network.direct)
	for i, c := range []struct {
		account, write string
		answer         error
		left           int64
	}{
		{"open", update, nil, 2},
		{"fenced", put, errStale, 3},
	} {
		old := term(t, db, uint64(10*i+1))
		expect(t, "the first write", old.put(ctx, c.account, 1), nil)
		late := make(chan error, 1)
		network.gate.Lock()
		go func() { late <- old.fenced(ctx, c.write, c.account, 2, old.epoch, old.role) }()
		<-network.waits

		next := term(t, direct, uint64(10*i+2))
		holds(t, next, c.account, 1)
		expect(t, "the next leader", next.put(ctx, c.account, 2), nil)
		expect(t, "the next leader", next.put(ctx, c.account, 3), nil)
		network.gate.Unlock()
		expect(t, "the late write", <-late, c.answer)
		holds(t, next, c.account, c.left)
	}
}
