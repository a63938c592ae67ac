package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

type spreadDocument struct {
	Groups []struct {
		Group   string
		Members []struct {
			Instance     string
			Leads, Seats int
		}
		Unplaced []string
	}
}

// TestSpread: who leads how many, and what nobody has room for.
func TestSpread(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	if r := p.run("spread", "orders"); r.code != cli.ExitUsage || !strings.Contains(r.errors, "no process there spreads") {
		t.Errorf("an empty bucket: exit %d, %s", r.code, r.errors)
	}
	for _, id := range []string{"a", "b"} {
		p.shards(id, 7)
	}
	natstest.Eventually(t, "shards are spread", patience, func() (bool, string) {
		r := p.run("spread", "orders", "--dry-run", "-o", "json")
		if r.code != 0 { // nobody has joined yet
			return false, r.errors
		}
		d := document[spreadDocument](t, r.out)
		if len(d.Groups) != 1 || len(d.Groups[0].Members) != 2 {
			return false, fmt.Sprint(d)
		}
		a, b := d.Groups[0].Members[0], d.Groups[0].Members[1]
		return a.Leads == 3 && b.Leads == 3 && a.Seats == 3 && len(d.Groups[0].Unplaced) == 1, fmt.Sprint(d)
	})
	r := p.ok("spread", "--yes")
	if !strings.Contains(r.out, "orders") || !strings.Contains(r.out, "unplaced: orders-") {
		t.Errorf("%s", r.out)
	}
	if r := p.run("spread", "payments"); r.code != cli.ExitUsage || !strings.Contains(r.errors, "groups there: orders") {
		t.Errorf("a stranger: exit %d, %s", r.code, r.errors)
	}
	d := p.run("doctor")
	if !strings.Contains(d.out, "nobody has room for orders-") || strings.Contains(d.out, "nobody would take over") {
		t.Errorf("doctor: %s", d.out)
	}
	for _, role := range document[rolesDoc](t, p.ok("roles", "-o", "json").out).Roles { // the loads decide who is next
		if role.Successor != "" {
			t.Errorf("%s names %s as its successor", role.Role, role.Successor)
		}
	}
}

// shards runs a process that leads three shards of n at most, until the test ends.
func (p *place) shards(id string, n int) {
	p.t.Helper()
	m, err := roles.New(
		roles.Config{Conn: p.connect(), Bucket: "roles", InstanceID: id, TTL: 20 * time.Second, MaxRoles: 3},
		roles.Shards("orders", n, func(ctx context.Context, _ int, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})...)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	p.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			p.t.Error(err)
		}
	})
}
