package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
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
	root := plant(t, "a.txt", "sub/b.txt", "sub/deep/c", ".hidden/d", ".gitignore", ".git/config", "sub/.git/HEAD", "empty/")
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
		got = append(got, f.rel)
		if want := int64(len("content of " + f.rel)); f.size != want || f.changed() {
			t.Errorf("%s: size %d, want %d; changed %v", f.rel, f.size, want, f.changed())
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
		if want := f.rel != "stays"; f.changed() != want {
			t.Errorf("%s: changed %v, want %v", f.rel, f.changed(), want)
		}
	}
}

func TestModuleRoot(t *testing.T) {
	root := plant(t, "go.mod", "a/b/c")
	if got := moduleRoot(filepath.Join(root, "a", "b")); got != root {
		t.Errorf("root is %s, want %s", got, root)
	}
	alone := plant(t, "a/b")
	if got := moduleRoot(filepath.Join(alone, "a")); got != filepath.Join(alone, "a") {
		t.Errorf("without a go.mod: %s", got)
	}
}

func TestTaskID(t *testing.T) {
	legal := regexp.MustCompile(`^[a-zA-Z0-9/_=-]+(\.[a-zA-Z0-9/_=-]+)*$`)
	long := strings.Repeat("directory/", 60) + "file"
	run := strings.Repeat("0", 36)
	ids := map[string]string{}
	for _, rel := range []string{
		"main.go", ".ci/run", "a/.hidden", "a b", "a=20b", "a*b", "a>b", "a..b", "a.=2Eb", "end.", "ünïcode", "tab\tnewline\n", "\xff", long, long + "2",
	} {
		id := taskID(run, rel)
		if !legal.MatchString(id) || len(id) > 200 {
			t.Errorf("id of %q is %q", rel, id)
		}
		if other, taken := ids[id]; taken {
			t.Errorf("%q and %q have the id %q", rel, other, id)
		}
		ids[id] = rel
	}
	if id := taskID("run", "docs/guide.md"); id != "run/docs/guide.md" {
		t.Errorf("a plain path becomes %q", id)
	}
}
