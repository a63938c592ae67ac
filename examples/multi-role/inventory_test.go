package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/assigntest"
)

// plant makes files below a new directory; a name that ends in / is a directory.
func plant(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		dir := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir != path {
			if err := os.WriteFile(path, []byte("content of "+name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// TestInventory counts the regular files of a tree.
func TestInventory(t *testing.T) {
	root := plant(t, "a", "sub/b", ".hidden/c", ".git/config", "sub/.git/HEAD", "empty/")
	if err := os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	got, err := takeInventory(t.Context(), assigntest.NewTask(t, inventoryIn{root}))
	want := inventoryOut{Files: 3, Bytes: int64(len("content of a" + "content of sub/b" + "content of .hidden/c"))}
	if err != nil || got != want {
		t.Errorf("counted %+v (%v), want %+v", got, err, want)
	}
	_, err = takeInventory(t.Context(), assigntest.NewTask(t, inventoryIn{filepath.Join(root, "missing")}))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a tree that is not there: %v", err)
	}
}
