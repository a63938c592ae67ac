package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// TestNested: every module below is vetted, and the examples, what is deployed and the discovery of
// servers by etcd are tested.
func TestNested(t *testing.T) {
	t.Chdir("../..")
	t.Setenv(draw.Key, draw.All)
	steps, err := nested(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		dir   string
		steps int
	}{
		{"bench/peers", 3},
		{"deploy/check", 3},
		{"examples/fencing/sqlite", 3},
		{"examples/postgres", 3},
		{"kube/controllerruntime", 3},
		{"tools", 0},
	} {
		if n := len(slices.DeleteFunc(slices.Clone(steps),
			func(s step) bool { return filepath.ToSlash(s.dir) != want.dir })); n != want.steps {
			t.Errorf("%d commands in %s, want %d: %v", n, want.dir, want.steps, steps)
		}
	}
}

// TestBelow: modules below are found if they have Go files, except in testdata and in directories
// that the go command ignores.
func TestBelow(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{
		"go.mod", "main.go", "a/go.mod", "a/a.go", "a/b/go.mod", "a/b/c/c.go", "tools/go.mod", "d/d.go",
		"d/testdata/e/go.mod", "d/testdata/e/e.go", ".f/go.mod", ".f/f.go",
	} {
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dirs, err := below(root)
	if want := []string{filepath.Join(root, "a"), filepath.Join(root, "a", "b")}; err != nil || !slices.Equal(dirs, want) {
		t.Errorf("%v, %v, want %v", dirs, err, want)
	}
}
