package main

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
	"github.com/rolemanager/rolemanager/fencing"
)

func database(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it was read only, or the test has failed
	return db
}

func token(epoch uint64) fencing.Token {
	return fencing.NewToken("billing", "node", epoch, 0, uuid.Nil)
}

func opened(t *testing.T, db *sql.DB, epoch uint64) *ledger {
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

// TestFence: a former leader inserts and changes nothing from the moment at which a later one has
// opened the ledger.
func TestFence(t *testing.T) {
	ctx, db := t.Context(), database(t, filepath.Join(t.TempDir(), "ledger.db"))
	old := opened(t, db, 41)
	expect(t, "the first insert", old.put(ctx, "total", 1), nil)

	later := opened(t, db, 57)
	expect(t, "a late change", old.put(ctx, "total", 2), errStale)
	expect(t, "a late insert", old.put(ctx, "other", 2), errStale)
	_, err := open(ctx, db, token(41))
	expect(t, "a late opening", err, errStale)
	expect(t, "the later leader", later.put(ctx, "total", 3), nil)
	expect(t, "a new row", later.put(ctx, "other", 3), nil)
	expect(t, "the same term again", opened(t, db, 57).put(ctx, "total", 4), nil)
}

// TestLossDuringAWrite: the leader loses the role when its statement is already under way. So the
// end of its context comes too late, and the fence alone refuses the statement.
func TestLossDuringAWrite(t *testing.T) {
	db := database(t, filepath.Join(t.TempDir(), "ledger.db"))
	ctx, first, end := electiontest.NewTerm(t, "billing")
	l, err := open(ctx, db, first.Token())
	if err != nil {
		t.Fatal(err)
	}
	underWay := context.WithoutCancel(ctx) // for a statement that nobody can call back

	end(election.ErrSessionLost)
	expect(t, "a statement that was not sent yet", l.put(ctx, "total", 1), context.Canceled)
	ctx, second, _ := electiontest.NewTerm(t, "billing") // its epoch is higher
	next, err := open(ctx, db, second.Token())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "a statement that arrives late", l.put(underWay, "total", 2), errStale)
	expect(t, "the next leader", next.put(ctx, "total", 3), nil)
}

// TestWindowBeforeTheFirstWrite: the fence of a row alone refuses a former leader only when the
// present one has written that row, and SET fence is what makes it do so.
func TestWindowBeforeTheFirstWrite(t *testing.T) {
	ctx, db := t.Context(), database(t, filepath.Join(t.TempDir(), "ledger.db"))
	old := opened(t, db, 41)
	expect(t, "the first insert", old.put(ctx, "total", 1), nil)
	later := opened(t, db, 57)
	expect(t, "a late change before the later leader has written", old.update(ctx, "total", 2), nil)
	expect(t, "the later leader", later.update(ctx, "total", 3), nil)
	expect(t, "a late change after it", old.update(ctx, "total", 4), errStale)
	expect(t, "a row that is not there", later.update(ctx, "other", 4), errStale)
}

// TestSignedEpochs: an epoch is an unsigned number of 64 bits, an INTEGER is signed.
func TestSignedEpochs(t *testing.T) {
	db := database(t, filepath.Join(t.TempDir(), "ledger.db"))
	opened(t, db, math.MaxInt64)
	if _, err := open(t.Context(), db, token(math.MaxInt64+1)); err == nil {
		t.Error("an epoch that SQL would take for a negative number is taken")
	}
}

// TestProgram: two processes count in one row, one after the other, on a real server; nobody's
// count is lost.
func TestProgram(t *testing.T) {
	s, err := server.NewServer(&server.Options{Port: -1, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not answer")
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	db := database(t, path)
	var fence, cents int64
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, s.ClientURL(), path) }()
		beforeFence, beforeCents := fence, cents
		for began := time.Now(); fence <= beforeFence || cents < beforeCents+3; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("fence %d, %d cents, as before: %d, %d", fence, cents, beforeFence, beforeCents)
			}
			_ = db.QueryRow(`SELECT fence, cents FROM account WHERE name = 'total'`).Scan(&fence, &cents) // no table yet
		}
		stop()
		expect(t, "the end", <-ended, nil)
	}
	_, err = open(t.Context(), db, token(uint64(fence)-1))
	expect(t, "an earlier leader", err, errStale)
}
