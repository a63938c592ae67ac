package main

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestBucket: what an error message tells a user to type must work.
func TestBucket(t *testing.T) {
	t.Parallel()
	p := at(t)
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "plain"}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "KV_mend", Subjects: []string{"$KV.mend.>"}, FirstSeq: uint64(time.Now().UnixMicro()), MaxMsgsPerSubject: 5,
		MaxAge: time.Hour,
	}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"bucket create roles", 0, "bucket roles is created"},
		{"bucket create roles", 0, "bucket roles exists and is fit"},
		{
			"bucket create roles --replicas 3", 0,
			"exists with replicas 1 and is not changed: use nats stream edit KV_roles --replicas 3",
		},
		{"bucket create roles --max-ttl 1h", 0, "exists with a TTL of at most 2m0s and is not changed"},
		{"bucket create long --max-ttl 10m --storage memory", 0, "TTL at most 10m0s"},
		{"bucket check roles", 0, "bucket roles is fit"},
		{"bucket check roles --fix", 0, "bucket roles is fit"},
		{"bucket check missing", 1, `rolectl bucket create missing"; buckets there: long, mend, plain, roles`},
		{"bucket ls", 0, "roles   fit"},
		{"bucket ls --others", 0, "plain   unfit"},
		{"tasks ls", 2, "the namespace is missing"},
		{"tasks create jobs", 0, "namespace jobs is created"},
		{"tasks ls", 2, "the namespace is missing: give --namespace, or set TASKS_NAMESPACE; namespaces there: jobs"},
		{"tasks ls -n nope", 1, "; namespaces there: jobs"},
		{"tasks namespaces", 0, "jobs"},
		{"bucket check plain", 1, `converted: create another one with "rolectl bucket create NAME"`},
		{"bucket check plain --fix", 1, `converted: create another one with "rolectl bucket create NAME"`},
		{"bucket check mend", 1, "rolectl bucket check mend --fix"},
		{"bucket check mend --fix", 0, "repaired: MaxAge"},
		{"bucket check mend", 0, "bucket mend is fit"},
		{"bucket create roles --storage tape", 2, "use file or memory"},
		{"bucket create roles --replicas 9", 2, "use 1, 3 or 5"},
		{"bucket create roles --replicas 2", 2, "use 1, 3 or 5"},
		{"bucket create spread --replicas 3", 1, "rolectl: this server is not in a cluster of 3: give --replicas 1"},
		{"tasks create spread --replicas 5", 1, "rolectl: this server is not in a cluster of 5: give --replicas 1"},
		{"bench --replicas 3", 1, "rolectl: this server is not in a cluster of 3: give --replicas 1"},
		{"bench --js-domain hub", 2, "connect to the server to measure, without --js-domain"},
		{"bench --help", 0, "refuses a domain"},
		{"bucket create x.y", 2, "use letters, digits, - and _"},
		{"bucket create x.y --dry-run", 2, "use letters, digits, - and _"},
		{"bucket check x.y", 2, "use letters, digits, - and _"},
		{"bucket create", 2, "NAME is missing: rolectl bucket create NAME"},
		{"bucket check roles --server nats://127.0.0.1:1", 4, "connect to nats://127.0.0.1:1"},
	} {
		t.Run(test.args, func(t *testing.T) {
			r := p.run(strings.Fields(test.args)...)
			if r.code != test.code || !strings.Contains(r.out+r.errors, test.says) ||
				r.code == cli.ExitUsage && strings.Count(r.errors, "\n") != 1 {
				t.Errorf("exit %d, want %d and %q in:\n%s%s", r.code, test.code, test.says, r.out, r.errors)
			}
		})
	}
}

// TestOrdinaryBucket: whatever is asked about a bucket of somebody's data, the answer is one line,
// which names the command that makes another bucket, and none that would harm the data.
func TestOrdinaryBucket(t *testing.T) {
	t.Parallel()
	p := at(t)
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "plain"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.PutString(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"-b plain roles", "-b plain members", "-b plain watch", "-b plain inspect r", "-b plain roles -o json",
		"-b plain exec r -- true", "bucket id plain", "bucket create plain", "bucket adopt plain --yes",
		"bucket move plain --here",
	} {
		r := p.run(strings.Fields(args)...)
		if says := r.out + r.errors; r.code != cli.ExitFailed || !strings.Contains(says, "an ordinary KV bucket") ||
			!strings.Contains(says, "rolectl bucket create NAME") || strings.Contains(says, "--fix") ||
			strings.Contains(says, "delete") || strings.Count(r.errors, "\n") != 1 && !strings.Contains(args, "json") {
			t.Errorf("%s: exit %d\n%s", args, r.code, says)
		}
	}
	if e, err := kv.Get(t.Context(), "k"); err != nil || string(e.Value()) != "v" {
		t.Errorf("what it kept: %v, %v", e, err)
	}
}

type bucketTestDoc struct {
	Bucket   string   `json:"bucket"`
	Fit      bool     `json:"fit"`
	Faults   []string `json:"faults"`
	Repaired []string `json:"repaired"`
}

// TestBucketJSON: the same as documents.
func TestBucketJSON(t *testing.T) {
	t.Parallel()
	p := at(t)
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "KV_mend", Subjects: []string{"$KV.mend.>"}, FirstSeq: uint64(time.Now().UnixMicro()), MaxMsgsPerSubject: 5,
		MaxAge: time.Hour,
	}); err != nil {
		t.Fatal(err)
	}
	if d := document[bucketTestDoc](t, p.ok("bucket", "create", "roles", "-o", "json").out); !d.Fit ||
		d.Bucket != "roles" {
		t.Errorf("%+v", d)
	}
	r := p.run("bucket", "check", "mend", "-o", "json")
	if d := document[bucketTestDoc](t, r.out); r.code != cli.ExitFailed || d.Fit || len(d.Faults) < 2 {
		t.Errorf("unfit: exit %d, %+v", r.code, d)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "plain"}); err != nil {
		t.Fatal(err)
	}
	for _, fix := range [][]string{nil, {"--fix"}} {
		r = p.run(append([]string{"bucket", "check", "plain", "-o", "json"}, fix...)...)
		if d := document[bucketTestDoc](t, r.out); r.code != cli.ExitFailed || d.Fit || len(d.Faults) != 1 ||
			len(d.Repaired) != 0 || strings.Contains(r.out+r.errors, "--fix") {
			t.Errorf("beyond repair: exit %d, %+v, %s", r.code, d, r.errors)
		}
	}
	if d := document[bucketTestDoc](t, p.ok("bucket", "check", "mend", "--fix", "-o", "json").out); !d.Fit ||
		len(d.Repaired) < 2 {
		t.Errorf("repaired: %+v", d)
	}
	if out := p.ok("bucket", "check", "mend", "-o", "name").out; out != "mend\n" {
		t.Errorf("name: %q", out)
	}
}

// TestBucketDryRun: what it prints makes the bucket that it would have made, and itself it makes
// nothing.
func TestBucketDryRun(t *testing.T) {
	t.Parallel()
	p := at(t)
	r := p.ok("bucket", "create", "roles", "--max-ttl", "10m", "--storage", "memory", "--dry-run")
	if r := p.run("bucket", "check", "roles"); r.code != cli.ExitFailed {
		t.Fatalf("it has made the bucket: %s", r.out)
	}
	var command string
	for line := range strings.Lines(r.out) {
		if !strings.HasPrefix(line, "#") {
			command += line
		}
	}
	parts := strings.Split(strings.TrimSpace(command), "'")
	if len(parts) != 5 || parts[0] != "nats request " {
		t.Fatalf("not a nats command with a subject and a body: %s", r.out)
	}
	nc := p.connect()
	m, err := nc.Request(parts[1], []byte(parts[3]), patience)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(m.Data), `"error"`) {
		t.Fatalf("the server says %s", m.Data)
	}
	if out := p.ok("bucket", "create", "roles").out; !strings.Contains(out, "TTL at most 10m0s") {
		t.Errorf("the bucket is another one: %s", out)
	}
}

// TestBytesRequired: an account may require a bound for each stream, and allow so much at most.
func TestBytesRequired(t *testing.T) {
	t.Parallel()
	p := at(t)
	natstest.RequireBytes(t, p.server, 8<<20)
	for _, create := range []string{
		"bucket create roles", "tasks create jobs", "bench --only heartbeat --rounds 1 --ttl 20s",
	} {
		for flag, says := range map[string]string{
			"":                 "rolectl: this account requires a bound for each stream: give --max-bytes",
			" --max-bytes 1GB": "rolectl: this account allows fewer bytes for one stream: give less --max-bytes",
		} {
			r := p.run(strings.Fields(create + flag)...)
			if r.code != cli.ExitFailed || !strings.Contains(r.errors, says) || strings.Count(r.errors, "\n") != 1 {
				t.Errorf("%s%s: exit %d, %s", create, flag, r.code, r.errors)
			}
		}
		p.ok(strings.Fields(create + " --max-bytes 4MiB")...)
	}
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"KV_roles", "TASKS_jobs", "OBJ_TASKS_jobs"} {
		if s, err := js.Stream(t.Context(), name); err != nil || s.CachedInfo().Config.MaxBytes != 4<<20 {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
