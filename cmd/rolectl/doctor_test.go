package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// Exit codes of doctor.
const (
	doctorHealthy = iota
	doctorWarning
	doctorCritical
	doctorUnknown
)

type doctorDoc struct {
	Status   string `json:"status"`
	Findings []struct {
		Check, Level, Message, Fix string
	} `json:"findings"`
}

// diagnosis runs the doctor and checks that document, exit code and names agree.
func (p *place) diagnosis(args ...string) (doctorDoc, int) {
	p.t.Helper()
	r := p.run(append([]string{"doctor", "--for", "100ms", "-o", "json"}, args...)...)
	d := document[doctorDoc](p.t, r.out)
	if names := []string{"ok", "warning", "critical", "unknown"}; r.code < 0 || r.code > 3 || names[r.code] != d.Status {
		p.t.Errorf("exit %d and status %s", r.code, d.Status)
	}
	for _, f := range d.Findings {
		if f.Level != "ok" && f.Fix == "" {
			p.t.Errorf("%s without a fix: %s", f.Check, f.Message)
		}
	}
	return d, r.code
}

// healthy waits until the doctor finds nothing wrong, and returns what it says. On a busy machine a
// round trip takes long now and then, and a heartbeat is missing.
func (p *place) healthy() (said string) {
	p.t.Helper()
	natstest.Eventually(p.t, "all is well", patience, func() (bool, string) {
		r := p.run("doctor", "--for", "0s")
		said = r.out
		return r.code == doctorHealthy, fmt.Sprintf("exit %d\n%s%s", r.code, r.out, r.errors)
	})
	return said
}

// has looks for a finding.
func (d doctorDoc) has(check, level, says string) bool {
	for _, f := range d.Findings {
		if f.Check == check && f.Level == level && strings.Contains(f.Message, says) {
			return true
		}
	}
	return false
}

// TestDoctorHealthy: nothing is wrong with two candidates on one server.
func TestDoctorHealthy(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	var d doctorDoc
	natstest.Eventually(t, "all is well", patience, func() (bool, string) { // see healthy
		code := 0
		d, code = p.diagnosis()
		return code == 0, fmt.Sprint(d)
	})
	for _, check := range []string{
		"server", "limits", "clusters", "bucket", "replicas", "clock", "round trip", "permissions",
		"records", "members", "roles", "churn",
	} {
		if !d.has(check, "ok", "") {
			t.Errorf("%s was not looked at: %+v", check, d)
		}
	}
	if r := p.run("doctor", "--for", "100ms"); !strings.Contains(r.out, "nats-server 2.") ||
		strings.Contains(r.out, "\x1b") {
		t.Errorf("as text: %q", r.out)
	}
}

// TestDoctorFinds: each thing that is wrong is found under its name, with its fix.
func TestDoctorFinds(t *testing.T) {
	t.Parallel()
	p := at(t)
	ctx := t.Context()
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	if d, code := p.diagnosis(); code != doctorCritical || !d.has("bucket", "critical", "bucket roles does not exist") {
		t.Errorf("without a bucket: %d, %+v", code, d)
	}
	if _, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "plain"}); err != nil {
		t.Fatal(err)
	}
	d, code := p.diagnosis("--bucket", "plain")
	of := slices.DeleteFunc(slices.Clone(d.Findings), func(f struct{ Check, Level, Message, Fix string }) bool {
		return f.Level == "ok" && f.Check != "bucket" && f.Check != "identity" && f.Check != "replicas"
	})
	if code != doctorCritical || len(of) != 1 || of[0].Check != "bucket" ||
		!strings.Contains(of[0].Message, "an ordinary KV bucket") ||
		of[0].Fix != `create another one with "rolectl bucket create NAME"` {
		t.Errorf("an ordinary bucket: %d, %+v", code, d)
	}

	p.ok("bucket", "create", "roles", "--storage", "memory")
	a := p.member("a", runs("1.0"))
	contend(t, a, election.RoleConfig{Role: "alone"})
	p.member("b", runs("1.1"))
	kv, err := js.KeyValue(ctx, "roles")
	if err != nil {
		t.Fatal(err)
	}
	put := func(key, value string) uint64 {
		t.Helper()
		rev, err := kv.Put(ctx, key, []byte(value))
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
	for i := range 3 {
		put(fmt.Sprintf("c.lease.dead%d", i), `{"v":1,"session":7,"ttl_ms":1000,"beat":3,"state":"killed","by":"a"}`)
	}
	put("c.role.later", `{"v":99}`)
	put("c.role.noise", "noise")
	put("c.member.noise", "noise\x1b[2J")
	natstest.Eventually(t, "it finds all of it", patience, func() (bool, string) {
		d, code = p.diagnosis()
		return code == doctorCritical && d.has("storage", "warning", "memory") &&
			d.has("roles", "warning", "nobody would take over alone from a") &&
			d.has("versions", "warning", "different versions (1.0: a; 1.1: b)") &&
			d.has("churn", "warning", "others have ended 3 sessions") &&
			d.has("records", "warning", "c.role.later was written by a later version") &&
			d.has("roles", "warning", "the leader of later is unknown") &&
			d.has("roles", "critical", "nobody leads noise") &&
			d.has("records", "warning", "c.member.noise cannot be read"), fmt.Sprintf("%d %+v", code, d)
	})
	for _, f := range d.Findings { // it may well be led
		if strings.Contains(f.Message+f.Fix, "c.role.later") && strings.Contains(f.Fix, "kv del") {
			t.Errorf("a record that is only not understood is to be removed: %+v", f)
		}
	}
	if r := p.run("inspect", "later"); r.code != cli.ExitNoLeader ||
		!strings.Contains(r.out, "unknown: a later version") || strings.Contains(r.out, "nobody") {
		t.Errorf("inspect: exit %d, %s%s", r.code, r.out, r.errors)
	}
	if r := p.run("step-down", "later", "--yes"); r.code != cli.ExitFailed ||
		!strings.Contains(r.errors, "a later version") {
		t.Errorf("step-down: exit %d, %s%s", r.code, r.out, r.errors)
	}
	r := p.run("doctor", "--for", "100ms", "-o", "name")
	names := strings.Fields(r.out)
	if !slices.Contains(names, "churn") || slices.Contains(names, "bucket") {
		t.Errorf("names: %v", names)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) { // two records and two roles are bad
		t.Errorf("a name comes twice: %v", names)
	}
}

// TestDoctorFindsDeadLeader: a leader that has no heartbeat, with nobody there to take over.
func TestDoctorFindsDeadLeader(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "roles")
	if err != nil {
		t.Fatal(err)
	}
	session, err := kv.Put(t.Context(), "c.lease.ghost", []byte(`{"v":1,"session":0,"nonce":"n","ttl_ms":300,"beat":1,"state":"live"}`))
	if err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`{"v":1,"ttl_ms":300,"id":"ghost","session":%d,"token":"0b5b8b8e-0000-4000-8000-000000000000"}`, session)
	if _, err := kv.Put(t.Context(), "c.role.scheduler", []byte(record)); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "it is found", patience, func() (bool, string) {
		d, code := p.diagnosis()
		return code == doctorCritical && d.has("roles", "critical", "ghost leads scheduler without a heartbeat"),
			fmt.Sprint(d)
	})
}

// TestDoctorSeesChurn: a role whose leader keeps changing while it watches.
func TestDoctorSeesChurn(t *testing.T) {
	t.Parallel()
	p := at(t)
	quick := func(c *election.SessionConfig) { c.CoolDown = time.Millisecond }
	for _, id := range []string{"a", "b"} {
		s := p.member(id, quick)
		e, err := s.Campaign(election.RoleConfig{Role: "hot", Lead: func(context.Context, *election.Term) error {
			time.Sleep(20 * time.Millisecond) // it does its work, and returns by mistake
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	natstest.Eventually(t, "it is found", patience, func() (bool, string) {
		r := p.run("doctor", "--for", "500ms", "-o", "json")
		d := document[doctorDoc](t, r.out)
		return r.code >= doctorWarning && d.has("churn", "warning", "hot keeps changing its leader"), r.out
	})
}

// TestDoctorUnknown: what cannot be looked at is unknown, not well.
func TestDoctorUnknown(t *testing.T) {
	t.Parallel()
	nowhere := &place{t: t, env: append(clean(t), "NATS_URL=nats://127.0.0.1:1")}
	if d, code := nowhere.diagnosis("--timeout", "1s"); code != doctorUnknown ||
		!d.has("connection", "unknown", "connect to") {
		t.Errorf("without a server: %d, %+v", code, d)
	}
	p := at(t, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			so.Users = []*server.User{{Username: "joe", Password: "x", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{"nothing"}},
			}}}
		}
	})
	p.env = append(p.env, "NATS_USER=joe", "NATS_PASSWORD=x")
	if d, code := p.diagnosis("--timeout", "2s"); code != doctorUnknown ||
		!d.has("connection", "unknown", "$JS.API.STREAM.INFO.KV_roles") {
		t.Errorf("without permissions: %d, %+v", code, d)
	}
	off := at(t, func(o *natsrun.Options) { o.Configure = func(so *server.Options) { so.JetStream = false } })
	if d, code := off.diagnosis("--timeout", "2s"); code != doctorCritical ||
		!d.has("limits", "critical", "JetStream is off") {
		t.Errorf("without JetStream: %d, %+v", code, d)
	}
}

// TestDoctorInterrupted: a doctor that is stopped has not looked at everything, and does not say
// that it is well.
func TestDoctorInterrupted(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	clients := func(n int) {
		t.Helper()
		natstest.Eventually(t, fmt.Sprintf("%d clients", n), patience, func() (bool, string) {
			now := p.server.Running().NumClients()
			return now == n, fmt.Sprint(now)
		})
	}
	clients(0)
	proc := p.start("doctor", "--for", "1h")
	clients(1)
	proc.signal(syscall.SIGINT)
	if r := proc.wait(); r.code != doctorUnknown || r.out != "" || !strings.Contains(r.errors, "interrupted") {
		t.Errorf("exit %d, %q, %q", r.code, r.out, r.errors)
	}
}

func runs(v string) func(*election.SessionConfig) {
	return func(c *election.SessionConfig) { c.Meta = map[string]string{"version": v} }
}
