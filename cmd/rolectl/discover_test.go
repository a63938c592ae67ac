package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

// TestDiscover: the servers are looked up where --discover says, and the reason is told if that
// does not work.
func TestDiscover(t *testing.T) {
	t.Parallel()
	p := at(t)
	file := filepath.Join(t.TempDir(), "servers")
	if err := os.WriteFile(file, []byte("nats://127.0.0.1:1\n"+p.server.URL()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	q := &place{t: t, env: append(clean(t), "NATS_URL=nats://127.0.0.1:1")}
	q.ok("--discover", "file://"+file, "bucket", "create", "roles")
	for args, says := range map[string]string{
		"--discover file://" + file + " --server nats://a": "give one of them",
		"--discover file://" + file + "x":                  "no such file",
		"--discover zookeeper://a":                         "use nats, file, srv, consul, etcd or k8s",
	} {
		r := q.run(append(strings.Fields(args), "bucket", "check", "roles")...)
		if r.code != cli.ExitUsage || !strings.Contains(r.errors, says) {
			t.Errorf("%s: exit %d, want %q in %q", args, r.code, says, r.errors)
		}
	}
}
