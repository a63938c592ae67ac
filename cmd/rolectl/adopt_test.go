package main

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

// TestAdopt: a bucket gets a new id and a floor, nothing is left in it, and it is fit. Nothing
// happens without a confirmation, or in a dry run.
func TestAdopt(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles", "--max-ttl", "1s")
	before := strings.TrimSpace(p.ok("bucket", "id", "roles").out)
	if r := p.run("bucket", "adopt", "roles"); r.code != cli.ExitUsage || !strings.Contains(r.errors, "--yes") {
		t.Errorf("without a confirmation: exit %d, %s", r.code, r.errors)
	}
	type adoption struct {
		Kind, Bucket, ID string
		Floor            uint64
		DryRun           bool    `json:"dry_run"`
		Waited           float64 `json:"waited_seconds"`
	}
	foreseen := document[adoption](t, p.ok("bucket", "adopt", "roles", "--dry-run", "-o", "json").out)
	if foreseen != (adoption{Kind: "bucket_adopted", Bucket: "roles", DryRun: true, Waited: 1}) {
		t.Errorf("%+v", foreseen)
	}
	said := p.ok("bucket", "adopt", "roles", "--dry-run").out
	if now := strings.TrimSpace(p.ok("bucket", "id", "roles").out); now != before || !strings.Contains(said, "takes 1s") {
		t.Errorf("id %s after a dry run, and %s before: %s", now, before, said)
	}
	done := document[adoption](t, p.ok("bucket", "adopt", "roles", "--yes", "-o", "json").out)
	after := strings.TrimSpace(p.ok("bucket", "id", "roles").out)
	if done.Kind != "bucket_adopted" || done.DryRun || done.ID != after || after == before || done.Floor == 0 {
		t.Errorf("%+v, id %s before and %s after", done, before, after)
	}
	p.ok("bucket", "check", "roles")
	for _, how := range []string{"--yes", "--dry-run"} {
		if r := p.run("bucket", "adopt", "nowhere", how); r.code == 0 || !strings.Contains(r.errors, "not found") {
			t.Errorf("a missing bucket, %s: exit %d, %s", how, r.code, r.errors)
		}
	}
}

// TestMove: it needs a place, and --here leaves the bucket as it is.
func TestMove(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	for _, args := range [][]string{{}, {"--cluster", "east", "--here"}} {
		r := p.run(append([]string{"bucket", "move", "roles"}, args...)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.errors, "--here") {
			t.Errorf("%v: exit %d, %s", args, r.code, r.errors)
		}
	}
	before := p.ok("bucket", "id", "roles", "-o", "wide").out
	p.ok("bucket", "move", "roles", "--here")
	if after := p.ok("bucket", "id", "roles", "-o", "wide").out; after != before {
		t.Errorf("%s, and before %s", after, before)
	}
}
