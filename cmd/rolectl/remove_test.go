package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

type removalDoc struct {
	Kind    string
	Removed []string
	Ended   []struct{ Role, Message string }
	Kept    []struct{ Role, Reason, By string }
	DryRun  bool `json:"dry_run"`
}

// TestRolesRm: roles that nobody leads and nobody wants are removed at once, and every other one is
// kept, with the reason.
func TestRolesRm(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles", "--max-ttl", "8s")
	long := func(c *election.SessionConfig) { c.TTL = 8 * time.Second }
	a, b := p.member("a", long), p.member("b", long)
	contend(t, a, election.RoleConfig{Role: "wanted"})
	for _, role := range []string{"former-1", "former-2", "former-3"} {
		e := contend(t, b, election.RoleConfig{Role: role})
		leads(t, e)
		if err := e.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(reason string, args ...string) {
		t.Helper()
		r := p.run(append([]string{"roles", "rm", "-o", "json"}, args...)...)
		lines := strings.Split(strings.TrimSpace(r.errors), "\n")
		d := document[faultTestDoc](t, lines[len(lines)-1])
		if r.code != cli.ExitFailed || d.Error.Code != "role_kept" || !strings.Contains(d.Error.Message, reason) {
			t.Errorf("rm %v: exit %d, %s", args, r.code, r.errors)
		}
	}
	refused("a leads it", "wanted", "--yes")
	for _, args := range [][]string{{}, {"former-1", "--vacant-for", "1s"}, {"nobody", "--yes"}} {
		if r := p.run(append([]string{"roles", "rm"}, args...)...); r.code != cli.ExitUsage {
			t.Errorf("rm %v: exit %d, %s", args, r.code, r.errors)
		}
	}
	natstest.Eventually(t, "the roles are vacant for the longest TTL", patience, func() (bool, string) {
		out := p.ok("roles", "rm", "--vacant-for", "8s", "--dry-run", "-o", "json").out
		d := document[removalDoc](t, out)
		return d.DryRun && slices.Equal(d.Removed, []string{"former-1", "former-2", "former-3"}), out
	})
	refused("a leads it", "former-1", "wanted", "--yes")
	if r := p.run("roles", "rm", "former-1"); r.code != cli.ExitUsage || !strings.Contains(r.errors, "--yes") {
		t.Errorf("without a terminal and --yes: exit %d, %s", r.code, r.errors)
	}
	if r := p.ok("roles", "rm", "former-1", "--yes"); !strings.Contains(r.out, "former-1") {
		t.Errorf("%s", r.out)
	}
	again := contend(t, b, election.RoleConfig{Role: "former-1"})
	leads(t, again)
	d := document[removalDoc](t, p.ok("roles", "rm", "--vacant-for", "1ms", "--yes", "-o", "json").out)
	if d.Kind != "removal" || !slices.Equal(d.Removed, []string{"former-2", "former-3"}) || len(d.Kept) != 0 {
		t.Errorf("%+v", d)
	}
	if out := p.ok("roles", "-o", "name").out; out != "former-1\nwanted\n" {
		t.Errorf("roles that are left: %q", out)
	}
}

// TestRolesRmOfTheDead: the role of a process that has crashed is kept as long as its lease may
// live, and is removed when it has expired, with the reason: no member is there that would give it
// up.
func TestRolesRmOfTheDead(t *testing.T) {
	thorough.Only(t, "it waits for leases")
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles", "--max-ttl", "2s")
	nc := p.connect()
	crashes, err := election.NewSession(election.SessionConfig{Bucket: "roles", InstanceID: "a", TTL: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := crashes.Open(t.Context(), nc); err != nil {
		t.Fatal(err)
	}
	leads(t, contend(t, crashes, election.RoleConfig{Role: "theirs"}))
	nc.Close()
	r := p.run("roles", "rm", "theirs", "--yes")
	if r.code != cli.ExitFailed || !strings.Contains(r.errors, "its session has not ended yet") {
		t.Errorf("its lease lives: exit %d, %s", r.code, r.errors)
	}
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "roles")
	if err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(t.Context(), "c.lease.a"); err != nil { // the server does it after a minute at the earliest
		t.Fatal(err)
	}
	natstest.Eventually(t, "it may be removed", patience, func() (bool, string) {
		r := p.run("roles", "rm", "theirs", "--dry-run")
		return r.code == 0 && strings.Contains(r.out, "the lease of a has expired"), r.out + r.errors
	})
	d := document[removalDoc](t, p.ok("roles", "rm", "theirs", "--yes", "-o", "json").out)
	if !slices.Equal(d.Removed, []string{"theirs"}) || len(d.Ended) != 1 ||
		d.Ended[0].Message != "the lease of a has expired" {
		t.Errorf("%+v", d)
	}
}
