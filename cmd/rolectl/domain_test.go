package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestDomain: over the domain of the hub, rolectl does on a leaf node what it does at the hub. The
// domain comes from a flag, the environment or a context. Without it, the leaf node's own JetStream
// has no such bucket, and the error says where it looked.
func TestDomain(t *testing.T) {
	t.Parallel()
	h := natstest.Hub(t, natsrun.HubOptions{
		Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}, {Name: "relay", NoJetStream: true}},
	})
	dir := contexts(t, map[string]string{"far": `{"url":"` + h.Leaf(1).URL() + `","jetstream_domain":"hub"}`})
	places := map[string]*place{
		"hub":  {t: t, env: append(clean(t), "NATS_URL="+h.URL())},
		"site": {t: t, env: append(clean(t), "NATS_URL="+h.Leaf(0).URL(), "NATS_JS_DOMAIN=hub")},
		"far":  {t: t, env: append(clean(t), "XDG_CONFIG_HOME="+dir, "NATS_CONTEXT=far")},
	}
	bare := &place{t: t, env: append(clean(t), "NATS_URL="+h.Leaf(0).URL())}
	dry := bare.ok("--js-domain", "hub", "bucket", "create", "roles", "--dry-run")
	if !strings.Contains(dry.out, "'$JS.hub.API.STREAM.CREATE.KV_roles'") {
		t.Errorf("a dry run prints %q", dry.out)
	}
	bare.ok("--js-domain", "hub", "bucket", "create", "roles")
	s, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", Domain: "hub", InstanceID: "a", TTL: 20 * time.Second, CoolDown: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), natstest.Connect(t, h.Leaf(0))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	e, err := s.Campaign(election.RoleConfig{Role: "r", Lead: func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		return nil
	}})
	if err == nil {
		err = e.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for name, p := range places {
		id := strings.TrimSpace(p.ok("bucket", "id", "roles").out)
		if first == "" {
			first = id
		}
		if id == "" || id != first {
			t.Errorf("%s: bucket id %q, want %q", name, id, first)
		}
		var doc struct{ ID, Domain string }
		out := p.ok("bucket", "id", "roles", "-o", "json").out
		if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.ID != id || doc.Domain != "hub" {
			t.Errorf("%s: %+v, %v", name, doc, err)
		}
		p.ok("bucket", "check", "roles")
		if out := p.ok("roles").out; !strings.Contains(out, "r ") || !strings.Contains(out, "a ") {
			t.Errorf("%s: roles: %s", name, out)
		}
	}
	if r := bare.run("bucket", "check", "roles"); r.code == 0 || !strings.Contains(r.errors, `bucket "roles" not found in JetStream domain "site"`) {
		t.Errorf("without a domain: exit %d, %s", r.code, r.errors)
	}
	r := places["far"].run("doctor", "--for", "100ms")
	for _, wrong := range []string{"critical", "unknown", "of a cluster"} {
		if strings.Contains(r.out, wrong) {
			t.Errorf("doctor: exit %d, %s%s", r.code, r.out, r.errors)
		}
	}
	if r := places["far"].run("bench"); r.code != cli.ExitUsage ||
		!strings.Contains(r.errors, "the JetStream of the server itself") {
		t.Errorf("bench: exit %d, %s", r.code, r.errors)
	}
	places["far"].ok("tasks", "create", "jobs")
	bare.ok("tasks", "create", "jobs") // of the same name, at the site
	for name, p := range places {
		p.ok("tasks", "submit", "-n", "jobs", "echo", "1", "--id", name)
		p.ok("tasks", "cron", "set", "-n", "jobs", name, "echo", "@daily", "1")
	}
	for name, p := range places {
		for _, args := range [][]string{{"tasks", "get", "-n", "jobs", "hub"}, {"tasks", "cron", "ls", "-n", "jobs"}} {
			if out := p.ok(args...).out; !strings.Contains(out, "hub") {
				t.Errorf("%s: %v: %s", name, args, out)
			}
		}
		if id := p.ok("tasks", "id", "-n", "jobs").out; id != places["far"].ok("tasks", "id", "-n", "jobs").out {
			t.Errorf("%s: another stream, %s", name, id)
		}
	}
	if r := bare.run("tasks", "get", "-n", "jobs", "hub"); r.code != cli.ExitFailed {
		t.Errorf("the site has the hub's task: %d, %s", r.code, r.out)
	}
	if r := bare.run("tasks", "get", "-n", "others", "x"); !strings.Contains(r.errors, "domain site has answered") {
		t.Errorf("no namespace: %s", r.errors)
	}
	if r := places["far"].run("step-down", "r", "--yes"); !strings.Contains(r.out+r.errors, "a gave up r") {
		t.Errorf("stepdown: %s%s", r.out, r.errors)
	}
}

// TestDoctorNamesake: a hub and a leaf node without JetStream domains each have a bucket of one
// name. Doctor hears of the other one from a process that uses it.
func TestDoctorNamesake(t *testing.T) {
	t.Parallel()
	h := natstest.Hub(t, natsrun.HubOptions{Leaves: []natsrun.LeafOptions{
		{Name: "site", Configure: func(so *server.Options) { so.JetStreamDomain = "" }},
	}})
	hub := &place{t: t, env: append(clean(t), "NATS_URL="+h.URL())}
	site := &place{t: t, env: append(clean(t), "NATS_URL="+h.Leaf(0).URL())}
	hub.memberOver(natstest.Connect(t, h), "a")
	id := strings.TrimSpace(hub.ok("bucket", "id", "roles").out)
	site.ok("bucket", "create", "roles") // by hand: nobody is asked
	natstest.Hears(t, h.Leaf(0), natskv.KeeperSubject("roles"))
	if d, code := site.diagnosis(); code != doctorCritical || !d.has("identity", "critical", id) {
		t.Errorf("on the leaf node: %d, %+v", code, d)
	}
	if d, _ := hub.diagnosis(); !d.has("identity", "ok", id) || d.has("identity", "critical", "another bucket") {
		t.Errorf("at the hub, since nobody uses the other one: %+v", d)
	}
}
