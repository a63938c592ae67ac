package stage

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

func TestWalk(t *testing.T) {
	root := plant(t, "a.txt", "sub/b.txt", "sub/deep/c", ".hidden/d", ".gitignore", ".git/config", "sub/.git/HEAD",
		"empty/")
	if err := os.Symlink(filepath.Join(root, "a.txt"), filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(root, filepath.Join(root, "sub", "loop")); err != nil {
		t.Fatal(err)
	}
	files, unreadable, err := walk(root)
	if err != nil || len(unreadable) > 0 {
		t.Fatal(err, unreadable)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Rel)
		if want := int64(len("content of " + f.Rel)); f.Size != want {
			t.Errorf("%s: size %d, want %d", f.Rel, f.Size, want)
		}
	}
	slices.Sort(got)
	if want := []string{".gitignore", ".hidden/d", "a.txt", "sub/b.txt", "sub/deep/c"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestWalkNothing(t *testing.T) {
	if _, _, err := walk(plant(t, "empty/", ".git/config")); !errors.Is(err, errEmptyTree) {
		t.Errorf("empty tree: %v", err)
	}
	if _, _, err := walk(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing tree: %v", err)
	}
}

func TestChanged(t *testing.T) {
	root := plant(t, "grows", "goes", "stays")
	files, _, err := walk(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "grows"), []byte("other content, and more of it"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "goes")); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if want := f.Rel != "stays"; f.changed() != want {
			t.Errorf("%s: changed %v, want %v", f.Rel, f.changed(), want)
		}
	}
}
