package main

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// TestProgram: two processes count in one row, one after the other, on a real server; nobody's
// count is lost.
func TestProgram(t *testing.T) {
	database := connect(t)
	s, err := server.NewServer(&server.Options{Port: -1, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not answer")
	}
	db := opened(t, database.direct)
	var fence, cents int64
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, s.ClientURL(), database.url) }()
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
