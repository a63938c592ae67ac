package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestBucket runs the built program: what an error message tells a user to type must work.
func TestBucket(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "rolectl")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := natstest.Server(t, natstest.Listen)
	js, err := jetstream.New(natstest.Connect(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "plain"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"bucket create roles", 0, "bucket roles is there and fit"},
		{"bucket create roles", 0, "bucket roles is there and fit"},
		{"bucket create long --max-ttl 10m --storage memory", 0, "TTL up to 10m0s"},
		{"bucket check roles", 0, "bucket roles is fit"},
		{"bucket check roles --fix", 0, "bucket roles is fit"},
		{"bucket check missing", 1, "rolectl bucket create missing"},
		{"bucket check plain", 1, "rolectl bucket"},
		{"bucket create roles --storage tape", 2, "use file or memory"},
		{"bucket create", 2, "accepts 1 arg"},
		{"bucket check roles --server nats://127.0.0.1:1", 4, "connect to nats://127.0.0.1:1"},
	} {
		t.Run(test.args, func(t *testing.T) {
			cmd := exec.Command(binary, strings.Fields(test.args)...)
			cmd.Env = append(cmd.Environ(), "NATS_URL="+s.URL(), "NATS_CREDS=")
			out, err := cmd.CombinedOutput()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != test.code || !strings.Contains(string(out), test.says) {
				t.Errorf("exit %d, want %d and %q in:\n%s", code, test.code, test.says, out)
			}
		})
	}
}
