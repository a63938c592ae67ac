package main

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

// TestAdopt: a bucket gets a new id and a floor, nothing is left in it, and it is fit. Nothing
// happens without a confirmation.
func TestAdopt(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles", "--max-ttl", "1s")
	before := strings.TrimSpace(p.ok("bucket", "id", "roles").out)
	if r := p.run("bucket", "adopt", "roles"); r.code != cli.ExitUsage || !strings.Contains(r.errors, "--yes") {
		t.Errorf("without a confirmation: exit %d, %s", r.code, r.errors)
	}
	done := document[struct {
		Kind, Bucket, ID string
		Floor            uint64
	}](t, p.ok("bucket", "adopt", "roles", "--yes", "-o", "json").out)
	after := strings.TrimSpace(p.ok("bucket", "id", "roles").out)
	if done.Kind != "bucket_adopted" || done.ID != after || after == before || done.Floor == 0 {
		t.Errorf("%+v, id %s before and %s after", done, before, after)
	}
	p.ok("bucket", "check", "roles")
	if r := p.run("bucket", "adopt", "nowhere", "--yes"); r.code == 0 || !strings.Contains(r.errors, "not found") {
		t.Errorf("a missing bucket: exit %d, %s", r.code, r.errors)
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
