package election_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/race"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestReconnectAmongDeadIds: 4,000 sessions have ended, and the bucket still tells of them. A
// leader whose connection is lost for a moment makes a new watch, and its term continues.
func TestReconnectAmongDeadIds(t *testing.T) {
	thorough.Only(t, "it reads thousands of records, again and again")
	t.Parallel()
	s := natstest.Server(t, natstest.Listen)
	nc := natstest.Connect(t, s)
	b, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	bury(t, nc, b, 4000)
	link := s.Link()
	cfg := instance("leader")
	cfg.TTL = 10 * time.Second
	if race.Enabled { // a snapshot takes ten times as long
		cfg.TTL = 30 * time.Second
	}
	session := open(t, s, cfg, append(link.Options(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))...)
	p, term := lead(t, session, election.RoleConfig{Role: "r"})
	second := instance("second")
	second.TTL = cfg.TTL
	for round := range 3 {
		link.Reset()
		second.InstanceID = fmt.Sprint("second.", round)
		other := open(t, s, second)
		natstest.Eventually(t, "the new watch of the leader shows who has joined since", time.Minute, func() (bool, string) {
			for _, m := range session.Members() {
				if m.Instance == second.InstanceID {
					return true, ""
				}
			}
			return false, fmt.Sprint(len(session.Members()), " members")
		})
		if err := other.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !term.Valid() || !p.IsLeader() || len(p.ended)+len(p.began) > 0 {
		t.Errorf("the term at epoch %d has ended: valid %t, leads %t, %d ended", term.Epoch(), term.Valid(), p.IsLeader(),
			len(p.ended))
	}
}

// bury writes what is left of sessions that have ended, half of them closed and half killed.
func bury(t *testing.T, nc *nats.Conn, b *natskv.Bucket, n int) {
	t.Helper()
	w, err := natskv.NewWriter(nc, b)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var open sync.WaitGroup
	put := func(op natskv.Write) {
		op.TTL = time.Hour
		open.Add(1)
		w.Submit(op, time.Minute, func(r natskv.Result) {
			if r.Err != nil {
				t.Error(r.Err)
			}
			open.Done()
		})
	}
	for i := range n {
		p := record.Peer{Class: record.Candidate, Instance: fmt.Sprint("dead.", i)}
		l := record.Lease{V: record.Version, Session: uint64(i + 1), Nonce: "n", State: record.Closed}
		if i%2 == 0 {
			l.State, l.By = record.Killed, "another"
		}
		put(natskv.Write{Key: record.MemberKey(p), Delete: true})
		put(natskv.Write{Key: record.LeaseKey(p), Value: record.Encode(l), Delete: true})
		if i%500 == 499 {
			open.Wait()
		}
	}
	open.Wait()
}
