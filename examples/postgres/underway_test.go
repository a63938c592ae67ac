package main

import (
	"database/sql"
	"testing"
	"time"
)

// TestWriteUnderWay: the next term begins after a write of the former one that is not committed
// yet, and so reads it.
func TestWriteUnderWay(t *testing.T) {
	db := opened(t, connect(t).direct)
	old := term(t, db, 41)
	expect(t, "the first write", old.put(t.Context(), "total", 1), nil)
	began := make(chan *ledger, 1)
	transaction(t, db, func(tx *sql.Tx) {
		if _, err := tx.Exec(put, "total", 2, old.epoch, old.role); err != nil {
			t.Fatal(err)
		}
		go func() {
			l, err := open(t.Context(), db, token(57))
			expect(t, "the next term", err, nil)
			began <- l
		}()
		waiting(t, db)
	})
	holds(t, <-began, "total", 2)
	expect(t, "a late write", old.put(t.Context(), "total", 3), errStale)
	expect(t, "a late insert", old.put(t.Context(), "other", 3), errStale)
}

// TestTermUnderWay: a write that waits for the next term to be committed is refused by it.
func TestTermUnderWay(t *testing.T) {
	db := opened(t, connect(t).direct)
	old := term(t, db, 41)
	expect(t, "the first write", old.put(t.Context(), "total", 1), nil)
	late := make(chan error, 1)
	transaction(t, db, func(tx *sql.Tx) {
		if _, err := tx.Exec(raise, old.role, 57); err != nil {
			t.Fatal(err)
		}
		go func() { late <- old.put(t.Context(), "total", 2) }()
		waiting(t, db)
	})
	expect(t, "a late write", <-late, errStale)
	holds(t, old, "total", 1)
}

// TestLostFence: a database that has lost the fence of the role has those of the rows.
func TestLostFence(t *testing.T) {
	db := opened(t, connect(t).direct)
	expect(t, "the later term", term(t, db, 57).put(t.Context(), "total", 1), nil)
	if _, err := db.Exec(`DELETE FROM fence`); err != nil {
		t.Fatal(err)
	}
	expect(t, "an earlier term", term(t, db, 41).put(t.Context(), "total", 2), errStale)
}

// transaction commits what f does.
func transaction(t *testing.T, db *sql.DB, f func(*sql.Tx)) {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() // after a commit it does nothing
	f(tx)
	expect(t, "the commit", tx.Commit(), nil)
}

// waiting returns when somebody waits for a lock in this database.
func waiting(t *testing.T, db *sql.DB) {
	t.Helper()
	const query = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
	for n, end := 0, time.Now().Add(30*time.Second); n == 0; time.Sleep(5 * time.Millisecond) {
		if err := db.QueryRow(query).Scan(&n); err != nil || time.Now().After(end) {
			t.Fatalf("nobody waits: %v", err)
		}
	}
}
