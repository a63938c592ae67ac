//go:build realtime

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// supercluster starts clusters with these names and sizes. Anybody may connect as a user of the
// global account, and "sys" is a user of the system account. The place is in the first cluster.
func supercluster(t *testing.T, clusters ...natsrun.ClusterSize) (*natsrun.Supercluster, *place) {
	t.Helper()
	s := natstest.Supercluster(t, natsrun.SuperclusterOptions{
		Clusters: clusters, Configure: func(_ string, so *server.Options) {
			system := server.NewAccount(server.DEFAULT_SYSTEM_ACCOUNT)
			so.Accounts, so.SystemAccount = []*server.Account{system}, server.DEFAULT_SYSTEM_ACCOUNT
			so.Users = []*server.User{{Username: "app", Password: "x"}, {Username: "sys", Password: "x", Account: system}}
			so.NoAuthUser = "app"
		},
	})
	return s, &place{t: t, env: append(clean(t), "NATS_URL="+s.Cluster(0).URLs())}
}

// TestRealtimeBucketMove: the command moves a bucket to another cluster while it is used. The term
// lasts, the bucket is the same, and epochs increase. A bucket that was moved with another tool is
// refused until the command has said that it is here.
func TestRealtimeBucketMove(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	s, p := supercluster(t, natsrun.ClusterSize{Name: "east", Size: 2}, natsrun.ClusterSize{Name: "west", Size: 1})
	p.ok("bucket", "create", "roles", "--cluster", "east")
	id := p.ok("bucket", "id", "roles").out
	nc := natstest.Connect(t, s.Cluster(0))
	a := contend(t, p.memberOver(nc, "a"), election.RoleConfig{Role: "r"})
	leads(t, a)
	term := a.Status().Epoch
	if out := p.ok("bucket", "move", "roles", "--cluster", "west").out; !strings.Contains(out, "cluster west") {
		t.Errorf("it says %q", out)
	}
	if now := a.Status(); !a.IsLeader() || now.Epoch != term {
		t.Errorf("the term has ended: %v", now)
	}
	where := p.ok("bucket", "id", "roles", "-o", "wide").out
	if p.ok("bucket", "id", "roles").out != id || !strings.Contains(where, "west") {
		t.Errorf("another bucket, or not in the west: %s", where)
	}
	p.ok("bucket", "check", "roles")
	b := contend(t, p.memberOver(natstest.Connect(t, s.Cluster(1)), "b"), election.RoleConfig{Role: "r"})
	natstest.Eventually(t, "b is next", patience,
		func() (bool, string) { return a.Status().Successor == "b", a.Status().Successor })
	p.ok("transfer", "r", "b", "--yes")
	leads(t, b)
	if after := b.Status().Epoch; after <= term {
		t.Errorf("epoch %d after %d", after, term)
	}

	natstest.Eventually(t, "another tool moves it", patience, func() (bool, string) {
		err := moveStream(t, nc, "east")
		return err == nil, fmt.Sprint(err)
	})
	refused := ""
	natstest.Eventually(t, "it is refused", patience, func() (bool, string) {
		r := p.run("bucket", "id", "roles")
		refused = r.errors
		return r.code != 0, r.out
	})
	if !strings.Contains(refused, "rolectl bucket move roles --here") {
		t.Errorf("it is refused with %s", refused)
	}
	natstest.Eventually(t, "it is here", patience, func() (bool, string) { // it may still be on its way
		p.ok("bucket", "move", "roles", "--here")
		r := p.run("bucket", "id", "roles", "-o", "wide")
		return r.code == 0 && strings.Contains(r.out, "east"), r.out + r.errors
	})
	if p.ok("bucket", "id", "roles").out != id || !b.IsLeader() {
		t.Errorf("another bucket, or another leader: %v", b.Status())
	}
}

// moveStream moves the stream of the bucket as another tool does.
func moveStream(t *testing.T, nc *nats.Conn, to string) error {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	stream, err := js.Stream(t.Context(), "KV_roles")
	if err != nil {
		return err
	}
	cfg := stream.CachedInfo().Config
	cfg.Placement = &jetstream.Placement{Cluster: to}
	_, err = js.UpdateStream(t.Context(), cfg)
	return err
}
