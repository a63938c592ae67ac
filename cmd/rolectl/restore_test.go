package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// backupOf is a directory with what "nats stream backup" writes about a bucket.
func backupOf(p *place, bucket string) (directory string) {
	p.t.Helper()
	directory = p.t.TempDir()
	m, err := p.connect().Request("$JS.API.STREAM.SNAPSHOT.KV_"+bucket, []byte(`{"deliver_subject":"nowhere"}`), patience)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "backup.json"), m.Data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return directory
}

// TestRestore: a bucket that is lost comes back from a directory of "nats stream backup" with its
// configuration, under a process that leads and stays connected. Epochs continue above those that
// were given since the backup. Nothing happens without a confirmation or in a dry run, and what is
// not a backup is refused with the fix.
func TestRestore(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles", "--max-ttl", "3s", "--max-bytes", "4MiB")
	backup, nc := backupOf(p, "roles"), p.connect()
	a := p.member("a", func(c *election.SessionConfig) { c.TTL = 2 * time.Second })
	e := contend(t, a, election.RoleConfig{Role: "r"})
	leads(t, e)
	type doc struct {
		Kind, ID string
		Created  bool
		DryRun   bool `json:"dry_run"`
		Floor    uint64
		Revoked  int
	}
	before := document[rolesDoc](t, p.ok("roles", "r", "-o", "json").out).Roles[0].Epoch
	for _, args := range [][]string{{"--yes"}, {"--force"}, {"--dry-run"}} {
		r := p.run(append([]string{"bucket", "restore", "roles", backup, "-o", "json"}, args...)...)
		if args[0] == "--yes" && (r.code != cli.ExitFailed || !strings.Contains(r.errors, "give --force")) {
			t.Errorf("a bucket that is followed: exit %d, %s", r.code, r.errors)
		}
		if args[0] == "--force" && (r.code != cli.ExitUsage || !strings.Contains(r.errors, "--yes")) {
			t.Errorf("without a confirmation: exit %d, %s", r.code, r.errors)
		}
		if args[0] == "--dry-run" {
			if d := document[doc](t, r.out); d.Created || !d.DryRun || d.ID != "" {
				t.Errorf("%+v", d)
			}
		}
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "KV_roles"); err != nil {
		t.Fatal(err)
	}
	if out := p.ok("bucket", "restore", "roles", backup, "--dry-run").out; !strings.Contains(out,
		"bucket roles would be created: replicas 1, file storage, TTL at most 3s; that takes 3s") {
		t.Errorf("%s", out)
	}
	if r := p.run("bucket", "id", "roles"); r.code == 0 {
		t.Error("the dry run has created it")
	}
	d := document[doc](t, p.ok("bucket", "restore", "roles", backup, "--yes", "-o", "json").out)
	id := strings.TrimSpace(p.ok("bucket", "id", "roles").out)
	if d.Kind != "bucket_restored" || !d.Created || d.DryRun || d.ID != id || d.Floor <= before {
		t.Errorf("%+v, id %s, and epoch %d before", d, id, before)
	}
	s, err := js.Stream(t.Context(), "KV_roles")
	if err != nil || s.CachedInfo().Config.MaxBytes != 4<<20 {
		t.Errorf("its configuration: %v", err)
	}
	p.ok("bucket", "check", "roles")
	natstest.Eventually(t, "nobody follows it any more", patience, func() (bool, string) {
		state, err := natskv.Inspect(t.Context(), nc, "roles")
		return err == nil && state.Watchers == 0, fmt.Sprint(state.Watchers, err)
	})
	if out := p.ok("bucket", "restore", "roles", backup, "--yes").out; !strings.Contains(out,
		"keeps its configuration") {
		t.Errorf("%s", out)
	}

	other := t.TempDir()
	for name, says := range map[string]string{"roles": "nats stream backup KV_roles", "third": "under its own name"} {
		from := map[string]string{"roles": other, "third": backup}[name]
		r := p.run("bucket", "restore", name, from, "--yes", "-o", "json")
		if d := document[faultTestDoc](t, r.errors); r.code != cli.ExitFailed || d.Error.Code != "no_backup" ||
			!strings.Contains(d.Error.Message, says) {
			t.Errorf("%s from %s: exit %d, %s", name, from, r.code, r.errors)
		}
	}
}
