package permissions_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// TestAddsShards: the user b adds the shards of "orders", which records how many there are, gives
// one away to a process that joins, and leads both again when that has left. Another number is
// refused to it, and no permission is missing for that either.
func TestAddsShards(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settles(t)
		var heard denials
		owner := as(t, s, "owner", &heard)
		owns(t, owner)
		lead := func(ctx context.Context, _ int, _ *election.Term) error {
			<-ctx.Done()
			return nil
		}
		shards := roles.Shards("orders", 2, lead)
		m, err := roles.New(roles.Config{
			Conn: as(t, s, "b", &heard), Bucket: bucket, InstanceID: "b", TTL: time.Second,
		}, roles.Role{Name: metrics, Lead: func(ctx context.Context, _ *election.Term) error { return lead(ctx, 0, nil) }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		leads := func(n int) {
			t.Helper()
			natstest.Eventually(t, fmt.Sprintf("b leads %d roles", n), time.Minute, func() (bool, string) {
				st := m.Status()
				return len(st.Leading) == n, fmt.Sprint(st.Leading)
			})
		}
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Errorf("the manager of b ends with %v", err)
			}
			if said := heard.all(t); said != "" {
				t.Errorf("the server complains:\n%s", said)
			}
		}()
		leads(1)
		if err := m.Add(shards...); err != nil {
			t.Fatalf("b adds its shards: %v", err)
		}
		leads(3)
		z, err := roles.New(roles.Config{Conn: owner, Bucket: bucket, InstanceID: "z", TTL: time.Second}, shards...)
		if err != nil {
			t.Fatal(err)
		}
		joined, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- z.Run(joined) }()
		leads(2)
		leave()
		if err := <-left; err != nil {
			t.Errorf("the manager of z ends with %v", err)
		}
		leads(3)
		for _, name := range []string{"orders-0", "orders-1"} {
			if err := m.Remove(within(t, time.Minute), name); err != nil {
				t.Errorf("remove %s: %v", name, err)
			}
		}
		if err := m.Add(roles.Shards("orders", 3, lead)...); !errors.Is(err, roles.ErrShardCount) {
			t.Errorf("b adds three shards: %v, want %v", err, roles.ErrShardCount)
		}
	}, published(t))
}
