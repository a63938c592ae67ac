package election_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// shard is a part in a group of so many shards.
func shard(number, of int) election.RoleConfig {
	return election.RoleConfig{
		Role: fmt.Sprintf("orders-%d", number), Spread: true, Group: "orders", Shards: of,
		Lead: func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		},
	}
}

// recorded leads a shard of a group, so that its number is in the bucket.
func recorded(t *testing.T, s *natsrun.Server) {
	t.Helper()
	lead(t, open(t, s, instance("a")), shard(0, 8))
}

// TestDamagedShardCount: a record that cannot be read is not replaced, since others may run by what
// it said. The error names the way out, and that helps.
func TestDamagedShardCount(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := open(t, s, instance("b"))
		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		kv, err := js.KeyValue(t.Context(), b.Bucket())
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []string{"", "8", `{"v":1}`, `{"v":1,"n":-8}`} {
			put, err := kv.PutString(t.Context(), "shards.orders", damaged)
			if err != nil {
				t.Fatal(err)
			}
			e, err := b.Campaign(shard(0, 8))
			if err != nil {
				t.Fatal(err)
			}
			err = e.Start(t.Context())
			fix := "nats kv del " + b.Bucket() + " shards.orders"
			if !errors.Is(err, election.ErrShardCount) || !strings.Contains(err.Error(), fix) {
				t.Errorf("%q: %v", damaged, err)
			}
			if now, err := kv.Get(t.Context(), "shards.orders"); err != nil || now.Revision() != put {
				t.Errorf("%q was replaced: %v, %v", damaged, now, err)
			}
			receive(t, "the election ends", after(e.Done()))
		}
		if err := kv.Delete(t.Context(), "shards.orders"); err != nil {
			t.Fatal(err)
		}
		lead(t, b, shard(0, 8))
	})
}

// TestShardCountAfterOpen: a session that is open already does not lead a shard of a group that has
// another number of shards, and continues.
func TestShardCountAfterOpen(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		recorded(t, s)
		b := open(t, s, instance("b"))
		wrong, err := b.Campaign(shard(8, 9))
		if err != nil {
			t.Fatal(err)
		}
		err = wrong.Start(t.Context())
		if !errors.Is(err, election.ErrShardCount) {
			t.Fatalf("start the ninth of eight: %v, want %v", err, election.ErrShardCount)
		}
		if !strings.Contains(err.Error(), "is final, so use 8, or another name for the group") {
			t.Errorf("the error does not name the fix: %v", err)
		}
		receive(t, "the election ends", after(wrong.Done()))
		if err := wrong.Err(); !errors.Is(err, election.ErrShardCount) {
			t.Errorf("it ended with %v, want %v", err, election.ErrShardCount)
		}
		lead(t, b, shard(1, 8)) // the refused one is not in the way
		if _, err := b.Campaign(shard(2, 9)); !errors.Is(err, election.ErrShardCount) {
			t.Errorf("campaign with 9 when 8 is known: %v, want %v", err, election.ErrShardCount)
		}
	})
}

// TestStandaloneShardCount: the same for an election that shares the open session of another one.
// It lets go of the session.
func TestStandaloneShardCount(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		recorded(t, s)
		nc := natstest.Connect(t, s)
		one := standalone(t, nc, instance("b"), "one")
		one.start(t)
		wrong, err := election.New(nc, election.Config{SessionConfig: instance("b"), RoleConfig: shard(8, 9)})
		if err != nil {
			t.Fatal(err)
		}
		if err := wrong.Run(t.Context(), one.work); !errors.Is(err, election.ErrShardCount) {
			t.Errorf("run the ninth of eight: %v, want %v", err, election.ErrShardCount)
		}
		if !one.IsLeader() {
			t.Error("the other election is harmed")
		}
		stop(t, one)
		o := observe(t, s)
		natstest.Eventually(t, "the last one has closed the session", time.Minute,
			func() (bool, string) { return members(o) == "[a]", members(o) })
	})
}

// TestShardCountWhileOpening: whenever an election starts while its session opens, over a slow
// network, it is refused: by its start, or by the opening.
func TestShardCountWhileOpening(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		recorded(t, s)
		for i := range 24 {
			link := s.Link()
			nc := natstest.Connect(t, s, link.Options()...)
			link.Delay(10 * time.Millisecond)
			b := unopened(t, instance(fmt.Sprintf("b%d", i)))
			opened := make(chan error, 1)
			go func() { opened <- b.Open(t.Context(), nc) }()
			time.Sleep(time.Duration(i) * 5 * time.Millisecond)
			e, err := b.Campaign(shard(8, 9))
			if err != nil { // the opening has failed
				t.Fatal(err)
			}
			err = e.Start(t.Context())
			if all := errors.Join(err, receive(t, "the opening ends", opened)); !errors.Is(all, election.ErrShardCount) {
				t.Errorf("started %d ms after the opening began: %v, want %v", i*5, all, election.ErrShardCount)
			}
		}
	})
}
