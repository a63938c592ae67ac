package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestDoctorLimits: an account that has nearly used up what it may store is found before writes are
// refused.
func TestDoctorLimits(t *testing.T) {
	t.Parallel()
	p := configured(t,
		"accounts { APP { jetstream { max_file: 1000000, max_streams: 20 }, users: [ { user: joe, password: x } ] } }\n")
	p.env = append(p.env, "NATS_USER=joe", "NATS_PASSWORD=x")
	p.ok("bucket", "create", "roles")
	js, err := jetstream.New(p.connect(nats.UserInfo("joe", "x")))
	if err != nil {
		t.Fatal(err)
	}
	finds := func(what string, want int, level, says string) {
		t.Helper()
		natstest.Eventually(t, what, patience, func() (bool, string) {
			d, code := p.diagnosis()
			return code == want && d.has("limits", level, says), fmt.Sprint(code, d)
		})
	}
	finds("with room", doctorHealthy, "ok", "well below")
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "DATA", Subjects: []string{"data"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 9 { // 83 % of it
		if _, err := js.Publish(t.Context(), "data", make([]byte, 92_000)); err != nil {
			t.Fatal(err)
		}
	}
	finds("nearly full", doctorWarning, "warning", "file storage")
	if _, err := js.Publish(t.Context(), "data", make([]byte, 135_000)); err != nil {
		t.Fatal(err)
	}
	finds("full", doctorCritical, "critical", "file storage")
	if err := stream.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 16 { // beside the bucket's and DATA
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
			Name:     fmt.Sprint("S", i),
			Subjects: []string{fmt.Sprint("s", i)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	finds("many streams", doctorWarning, "warning", "streams: 18 of 20 used")
}

// TestDoctorBeats: the round trip is held against how often each member beats, not against what its
// TTL would mean: the way to the server takes 120 ms there and back, which is nothing to a TTL of
// 20 s, and too long for a beat each 200 ms.
func TestDoctorBeats(t *testing.T) {
	t.Parallel()
	p := at(t)
	contend(t, p.member("slow"), election.RoleConfig{Role: "scheduler"})
	link, err := natsrun.NewProxy(strings.TrimPrefix(p.server.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	link.Delay(60 * time.Millisecond)
	far := &place{t: t, server: p.server, env: append(p.env, "NATS_URL=nats://"+link.Addr())}
	natstest.Eventually(t, "a beat each 4 s bears it", patience, func() (bool, string) {
		d, _ := far.diagnosis("--timeout", "30s")
		return d.has("round trip", "ok", "of slow, comes every 4s"), fmt.Sprint(d)
	})
	contend(t, p.member("quick", func(c *election.SessionConfig) { c.HeartbeatInterval = 200 * time.Millisecond }),
		election.RoleConfig{Role: "metrics"})
	// the machine may be too busy to beat so often
	natstest.Eventually(t, "the beats of quick are seen", patience, func() (bool, string) {
		r := far.run("doctor", "--for", "1500ms", "--timeout", "30s", "-o", "json")
		d := document[doctorDoc](t, r.out)
		return r.code >= doctorWarning &&
			(d.has("round trip", "critical", "quick sends a heartbeat every") ||
				d.has("round trip", "warning", "quick sends a heartbeat every")), r.out
	})
}

// TestDoctorPermissions: what a user may do is said only when it was found out.
func TestDoctorPermissions(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	nc := p.connect()
	// somebody is there, and says nothing
	mute, err := nc.Subscribe("$ROLES.roles.*.ctl.rolectl-doctor", func(*nats.Msg) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if d, code := p.diagnosis(); code == 0 || !d.has("permissions", "unknown", "whether it may steer") {
		t.Errorf("without an answer: %d, %+v", code, d)
	}
	if err := mute.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "with the answer that nobody is there", patience, func() (bool, string) {
		d, _ := p.diagnosis()
		return d.has("permissions", "ok", "may read and steer"), fmt.Sprint(d)
	})
}

// TestDoctorAbandonedRole: a role that was left cleanly and has no candidate is reported, and is
// not a fault. It is a fault if its work has failed or the role was taken by force.
func TestDoctorAbandonedRole(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	p.ok("exec", "once", "-q", "--", "true")
	natstest.Eventually(t, "it is not a warning", patience, func() (bool, string) { // a busy machine may miss a heartbeat
		d, code := p.diagnosis()
		return code == 0 && d.has("roles", "ok", "with no candidates: once (") &&
			d.has("roles", "ok", "1 role, with a leader and a successor"), fmt.Sprint(d)
	})
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "roles")
	if err != nil {
		t.Fatal(err)
	}
	for role, reason := range map[string]string{"broken": "work failed", "taken": "evicted"} {
		record := fmt.Sprintf(`{"v":1,"ttl_ms":1000,"vacant":true,"by":"x","reason":%q}`, reason)
		if _, err := kv.Put(t.Context(), "c.role."+role, []byte(record)); err != nil {
			t.Fatal(err)
		}
	}
	natstest.Eventually(t, "these are warnings", patience, func() (bool, string) {
		d, code := p.diagnosis()
		return code == doctorWarning && d.has("roles", "warning", "nobody has contended for broken") &&
			d.has("roles", "warning", "nobody has contended for taken"), fmt.Sprint(d)
	})
}

// TestDoctorVersions: members of one program should run one version; what other programs run is not
// compared with it.
func TestDoctorVersions(t *testing.T) {
	t.Parallel()
	p := at(t)
	runs := func(program, version string) func(*election.SessionConfig) {
		return func(c *election.SessionConfig) {
			c.Meta = map[string]string{findings.MetaProgram: program, findings.MetaVersion: version}
		}
	}
	sees := func(what, level, says string) {
		t.Helper()
		natstest.Eventually(t, what, patience, func() (bool, string) {
			d, _ := p.diagnosis()
			return d.has("versions", level, says), fmt.Sprint(d)
		})
	}
	contend(t, p.member("a"), election.RoleConfig{Role: "r"})
	sees("nobody says", "ok", "no member gives its version")
	contend(t, p.member("b", runs("web", "1")), election.RoleConfig{Role: "r"})
	contend(t, p.member("c", runs("jobs", "2")), election.RoleConfig{Role: "r"})
	sees("two programs", "ok", "of the 2 members with a version")
	contend(t, p.member("d", runs("jobs", "3")), election.RoleConfig{Role: "r"})
	sees("two versions of one", "warning", "different versions of jobs (2: c; 3: d)")
	held := p.start("exec", "r", "--instance", "e", "--", "true")
	held.says(&held.errs, "contends")
	if out := p.ok("members", "-o", "wide").out; !strings.Contains(out,
		findings.MetaProgram+"=rolectl exec,"+findings.MetaVersion+"=") {
		t.Errorf("exec does not say its version:\n%s", out)
	}
}
