package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

type sealedDoc struct {
	taskDoc
	Input  any    `json:"input"`
	Sealed string `json:"input_sealed"`
}

// TestTasksSealed: without the key nothing is shown, and nothing is stored that no worker takes.
func TestTasksSealed(t *testing.T) {
	t.Parallel()
	w := working(t) // its worker has no key: what is sealed fails there
	file := func(id string) string {
		name := filepath.Join(t.TempDir(), id)
		key := id + " " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
		if err := os.WriteFile(name, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	key := file("2026-11")
	w.ok("tasks", "submit", "double", "4321", "--id", "x", "--attempts", "1", "--key-file", key)
	w.in("x", assign.StateDead)
	r := w.ok("tasks", "get", "x")
	if !strings.Contains(r.out, "input: sealed (2026-11)") || strings.Contains(r.out, "4321") {
		t.Errorf("without the key: %s", r.out)
	}
	if d := document[sealedDoc](t, w.ok("tasks", "get", "x", "-o", "json").out); d.Sealed != "2026-11" || d.Input != nil {
		t.Errorf("without the key: %+v", d)
	}
	if r := w.ok("tasks", "get", "x", "--key-file", key); !strings.Contains(r.out, "input: 4321") {
		t.Errorf("with the key: %s", r.out)
	}
	if r := w.ok("tasks", "get", "x", "--key-file", file("2025")); !strings.Contains(r.out, "input: sealed (2026-11)") {
		t.Errorf("with another key: %s", r.out)
	}
	r = w.run("tasks", "requeue", "x", "--input", "2")
	if r.code != cli.ExitFailed || !strings.Contains(r.errors, "--key-file") {
		t.Errorf("requeued without the key: exit %d, %s", r.code, r.errors)
	}
	w.ok("tasks", "requeue", "x", "--input", "6789", "--key-file", key)
	w.in("x", assign.StateDead)
	if r := w.ok("tasks", "get", "x", "--key-file", key); !strings.Contains(r.out, "input: 6789") {
		t.Errorf("requeued: %s", r.out)
	}
	if r := w.run("tasks", "get", "x", "--key-file", filepath.Join(t.TempDir(), "none")); r.code != cli.ExitUsage {
		t.Errorf("no such file: exit %d, %s", r.code, r.errors)
	}
}
