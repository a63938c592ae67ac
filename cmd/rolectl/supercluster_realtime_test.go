//go:build realtime

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// doctors are doctors of an ordinary user, and of one that has a context of the system account.
func doctors(t *testing.T, p *place) (plain, system func() (doctorDoc, int)) {
	t.Helper()
	dir := contexts(t, map[string]string{"system": `{"user":"sys","password":"x"}`})
	q := &place{t: t, env: append(p.env, "XDG_CONFIG_HOME="+dir)}
	return func() (doctorDoc, int) { return p.diagnosis() },
		func() (doctorDoc, int) { return q.diagnosis("--system-context", "system") }
}

// TestRealtimeDoctorHalves: of two clusters of one size, doctor warns. When they are cut off from
// each other, it says that nobody can watch, and what to do.
func TestRealtimeDoctorHalves(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	s, p := supercluster(t, natsrun.ClusterSize{Name: "east", Size: 1}, natsrun.ClusterSize{Name: "west", Size: 1})
	p.ok("bucket", "create", "roles", "--cluster", "east")
	plain, system := doctors(t, p)
	d, _ := plain()
	if !d.has("clusters", "warning", "by cluster: east 1, west 1: when east or west is cut off") ||
		!d.has("clusters", "ok", "--system-context") || len(servers(d)) != 2 {
		t.Errorf("two halves: %+v", d)
	}
	d, _ = system()
	if !d.has("clusters", "warning", "east 1, west 1") ||
		!d.has("clusters", "ok", "leads JetStream's meta group, and all of it answers: 2 servers") {
		t.Errorf("two halves, by a user of the system account: %+v", d)
	}
	r := p.run("doctor", "--system-context", "nobody")
	if r.code != doctorUnknown || !strings.Contains(r.errors, "nobody") {
		t.Errorf("a context that there is not: exit %d, %s", r.code, r.errors)
	}
	s.Cut(0, 1)
	for _, look := range []func() (doctorDoc, int){plain, system} {
		natstest.Eventually(t, "the other half is missed", patience, func() (bool, string) {
			d, code := look()
			return code == doctorCritical && d.has("clusters", "critical", "no leader on this side"), fmt.Sprint(d)
		})
	}
}

// TestRealtimeDoctorMajority: with three clusters, one of which has more than half of the servers,
// all is well. A user of the system account sees which server is cut off.
func TestRealtimeDoctorMajority(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	s, p := supercluster(t, natsrun.ClusterSize{Name: "east"}, natsrun.ClusterSize{Name: "west", Size: 1},
		natsrun.ClusterSize{Name: "south", Size: 1})
	p.ok("bucket", "create", "roles", "--replicas", "3")
	plain, system := doctors(t, p)
	if d, _ := plain(); !d.has("clusters", "ok", "by cluster: east 3, south 1, west 1; any one cluster may be cut off") {
		t.Errorf("three clusters: %+v", d)
	}
	p.memberOver(natstest.Connect(t, s.Cluster(0)), "a", func(c *election.SessionConfig) {
		c.TTL, c.IdleFactor = 2*time.Second, 1
	})
	s.Delay(0, 1, 150*time.Millisecond)
	west := &place{t: t, env: append(clean(t), "NATS_URL="+s.Cluster(1).URLs())}
	natstest.Eventually(t, "the way from the west is too long", patience, func() (bool, string) {
		d, _ := west.diagnosis()
		return d.has("round trip", "critical", "to the leader of the bucket, and a sends a heartbeat every"), fmt.Sprint(d)
	})
	s.Heal(0, 1)
	s.Cut(0, 1)
	s.Cut(2, 1)
	natstest.Eventually(t, "the server in the west is missed", patience, func() (bool, string) {
		d, code := system()
		return code == doctorWarning &&
				d.has("clusters", "ok", "4 servers with JetStream, by cluster: east 3, south 1, of 5") &&
				d.has("clusters", "warning", "1 server of JetStream's meta group, which has 5, without an answer: west-n0"),
			fmt.Sprint(d)
	})
	natstest.Eventually(t, "an ordinary user sees the rest", patience, func() (bool, string) { // which may elect a leader
		d, code := plain()
		return code == doctorHealthy && d.has("clusters", "ok", "4 servers with JetStream") &&
			d.has("round trip", "ok", "run doctor there too, in south"), fmt.Sprint(d)
	})
}
