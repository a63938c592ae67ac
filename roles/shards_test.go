package roles_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

func leadShard(ctx context.Context, _ int, _ *election.Term) error {
	<-ctx.Done()
	return nil
}

// evenly waits until the nodes lead all shards, none of them two more than another.
func evenly(t *testing.T, nodes []*node, shards int) {
	t.Helper()
	natstest.Eventually(t, "the shards are spread", time.Minute, func() (bool, string) {
		total, least, most, all := 0, shards, 0, ""
		for _, n := range nodes {
			led := len(n.Status().Leading)
			total, least, most = total+led, min(least, led), max(most, led)
			all += fmt.Sprintf(" %d", led)
		}
		return total == shards && most-least <= 1, all
	})
}

// TestShards: shards of processes that start together are spread evenly, and again when one of them
// dies, and when one joins.
func TestShards(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const shards = 60
		var nodes []*node
		for i := range 4 {
			nodes = append(nodes, start(t, s, fmt.Sprintf("n%d", i), roles.Shards("orders", shards, leadShard)))
		}
		evenly(t, nodes, shards)
		nodes[0].link.Cut()
		evenly(t, nodes[1:], shards)
		nodes = append(nodes[1:], start(t, s, "n4", roles.Shards("orders", shards, leadShard)))
		evenly(t, nodes, shards)
	})
}

// TestShardCount: a group has one number of shards. A process with another number is told so, at
// its start and when it adds the group later.
func TestShardCount(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := start(t, s, "a", roles.Shards("orders", 8, leadShard))
		evenly(t, []*node{a}, 8)
		b := start(t, s, "b", roles.Shards("orders", 9, leadShard))
		if err := b.result(); !errors.Is(err, roles.ErrShardCount) {
			t.Errorf("a start with 9: %v", err)
		}
		c := start(t, s, "c", roles.Shards("payments", 2, leadShard))
		evenly(t, []*node{c}, 2)
		if err := c.Add(roles.Shards("orders", 7, leadShard)...); !errors.Is(err, roles.ErrShardCount) {
			t.Errorf("7 added: %v", err)
		}
		if err := c.Add(roles.Shards("orders", 8, leadShard)...); err != nil {
			t.Errorf("8 added: %v", err)
		}
		natstest.Eventually(t, "half of the shards move", time.Minute, func() (bool, string) {
			n := len(c.Status().Leading)
			return n == 2+4, fmt.Sprint(n)
		})
	})
}

// TestAddShardsWhileRunEnds: Add asks the bucket without holding up the end of Run. It then says
// that Run has ended, and nothing was added.
func TestAddShardsWhileRunEnds(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		a := start(t, s, "a", one(w.role("other")))
		receive(t, "a leads", w.began)
		a.link.Hold(natsrun.Both) // the question gets no answer
		added := make(chan error, 1)
		go func() { added <- a.Add(roles.Shards("orders", 8, leadShard)...) }()
		natstest.Eventually(t, "the shards are being added", time.Minute, func() (bool, string) {
			n := len(a.Status().Roles)
			return n == 1+8, fmt.Sprint(n)
		})
		none(t, "Add has asked", added)
		a.stop()
		if err := receive(t, "Add returns", added); !errors.Is(err, roles.ErrEnded) {
			t.Errorf("Add while Run ended: %v, want %v", err, roles.ErrEnded)
		}
		if _, ok := a.Election("orders-0"); ok {
			t.Error("a shard was added")
		}
		a.link.Release()
	})
}

// TestSpreadRolesNameNoSuccessor: the loads decide who takes over a spread role, so neither a
// status nor the answer to a step-down names somebody.
func TestSpreadRolesNameNoSuccessor(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nodes := []*node{
			start(t, s, "a", roles.Shards("orders", 4, leadShard)),
			start(t, s, "b", roles.Shards("orders", 4, leadShard)),
		}
		evenly(t, nodes, 4)
		o, err := election.Observe(t.Context(), natstest.Connect(t, s), "roles")
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		var led election.RoleInfo
		natstest.Eventually(t, "the observer sees both in line for four shards", time.Minute, func() (bool, string) {
			all := o.Roles()
			for _, led = range all {
				if led.Leader == "" || len(led.Candidates) != 2 {
					return false, fmt.Sprintf("%+v", led)
				}
				if !led.Spread || led.Successor != "" {
					t.Errorf("%s: %+v", led.Role, led)
				}
			}
			return len(all) == 4, fmt.Sprint(len(all))
		})
		for _, r := range nodes[0].Status().Roles {
			if r.Successor != "" {
				t.Errorf("%s is to go to %s", r.Name, r.Successor)
			}
		}
		next, err := o.StepDown(bound(t), led.Role, led.Epoch)
		if next != "" || err != nil {
			t.Errorf("the step-down answers %q, %v", next, err)
		}
	})
}

// TestMaxRoles: a role that only full processes could take is led by nobody, and that is told.
func TestMaxRoles(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		few := func(c *roles.Config) { c.MaxRoles = 2 }
		a := start(t, s, "a", roles.Shards("orders", 5, leadShard), few)
		natstest.Eventually(t, "a fault tells that shards are unplaced", time.Minute, func() (bool, string) {
			return a.faulted("nobody has room"), fmt.Sprint(a.Status().Leading)
		})
		b := start(t, s, "b", roles.Shards("orders", 5, leadShard), few)
		c := start(t, s, "c", roles.Shards("orders", 5, leadShard), few)
		evenly(t, []*node{a, b, c}, 5)
	})
}

func (n *node) faulted(text string) bool {
	for _, l := range n.logs.All() {
		if strings.Contains(fmt.Sprint(l.ContextMap()), text) {
			return true
		}
	}
	return false
}

func TestShardOf(t *testing.T) {
	counts := make([]int, 64)
	moved := 0
	for i := range 64_000 {
		key := fmt.Sprintf("key-%d", i)
		shard := roles.ShardOf("orders", 64, key)
		counts[shard]++
		switch next := roles.ShardOf("orders", 65, key); {
		case next == shard:
		case next == 64:
			moved++
		default:
			t.Fatalf("%s moves from %d to %d", key, shard, next)
		}
	}
	for shard, n := range counts {
		if n < 800 || n > 1200 {
			t.Errorf("shard %d has %d of 64,000 keys", shard, n)
		}
	}
	if moved < 800 || moved > 1200 {
		t.Errorf("%d keys move to the 65th shard", moved)
	}
	// All versions agree, and programs in other languages may.
	for key, want := range map[string]int{"": 17, "customer-42": 61, "orders/2026-11": 38} {
		if got := roles.ShardOf("orders", 64, key); got != want {
			t.Errorf("%q is in shard %d, not in %d", key, got, want)
		}
	}
}

func TestShardsAreRefused(t *testing.T) {
	cfg := roles.Config{URL: "nats://localhost:4222", Bucket: "roles"}
	for _, c := range []struct {
		name  string
		roles []roles.Role
	}{
		{"no shards", roles.Shards("orders", 0, leadShard)},
		{"apart without spread", []roles.Role{{Name: "a", Apart: []string{"b"}, Lead: noWork}}},
		{"apart from itself", []roles.Role{{Name: "a", Spread: true, Apart: []string{"a"}, Lead: noWork}}},
		{"apart twice", []roles.Role{{Name: "a", Spread: true, Apart: []string{"b", "b"}, Lead: noWork}}},
		{"a group that is not a name", []roles.Role{{Name: "a", Spread: true, Group: "x y", Lead: noWork}}},
		{"no work", roles.Shards("orders", 3, nil)},
	} {
		if _, err := roles.New(cfg, c.roles...); err == nil {
			t.Errorf("%s is taken", c.name)
		}
	}
	cfg.MaxRoles, cfg.Capacity = -1, 1001
	if _, err := roles.New(cfg, roles.Shards("orders", 3, leadShard)...); err == nil {
		t.Error("MaxRoles -1 and Capacity 1001 are taken")
	}
}
