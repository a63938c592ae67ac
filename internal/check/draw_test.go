package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEachTestHasItsTurn: a seed draws about one in so many tests, always the same, and over some
// seeds each is drawn. Tests of files that changed lately are played with every seed.
func TestEachTestHasItsTurn(t *testing.T) {
	dir := t.TempDir()
	var all []string
	for i := range 100 {
		all = append(all, "Test"+strconv.Itoa(i))
	}
	for file, text := range map[string]string{
		"a_test.go": "package a\nfunc " + strings.Join(all, "() {}\nfunc ") + "() {}\nfunc TestMain() {}\nfunc help() {}\n",
		"b_test.go": "package a\nfunc TestNew() {}\nfunc (suite) TestOfASuite() {}\nfunc Test0() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	packages := []pkg{{Dir: dir, TestGoFiles: []string{"a_test.go"}, XTestGoFiles: []string{"b_test.go"}}}
	turns := map[string]int{}
	const seeds = 100
	for seed := range seeds {
		left, err := leftOut(packages, strconv.Itoa(seed), []string{filepath.Join(dir, "b_test.go")})
		again, _ := leftOut(packages, strconv.Itoa(seed), []string{filepath.Join(dir, "b_test.go")})
		if err != nil || !slices.Equal(left, again) {
			t.Fatalf("seed %d: %v, %v; and then %v", seed, left, err, again)
		}
		for _, name := range append(all[:len(all):len(all)], "TestNew") {
			if !slices.Contains(left, name) {
				turns[name]++
			}
		}
		if n := len(left); n < len(all)*(oneOf-1)/oneOf-25 || n > len(all)*(oneOf-1)/oneOf+25 {
			t.Errorf("seed %d leaves out %d of %d", seed, n, len(all))
		}
		if plays, err := playsAny(packages[0], left); err != nil || !plays {
			t.Errorf("seed %d plays none, %v", seed, err)
		}
	}
	if plays, err := playsAny(packages[0], append(all[:len(all):len(all)], "TestNew")); err != nil || plays {
		t.Errorf("all are left out, and some are played, %v", err)
	}
	for _, name := range all[1:] {
		if n := turns[name]; n < seeds/oneOf/2 {
			t.Errorf("%s is played with %d seeds of %d", name, n, seeds)
		}
	}
	for _, name := range []string{"Test0", "TestNew"} {
		if turns[name] != seeds {
			t.Errorf("%s, of a file that changed, is played with %d seeds of %d", name, turns[name], seeds)
		}
	}
}

// TestSmallPackagesAreDrawnWhole: all of their tests are played or none, and with some seeds all
// are. Those of a file that changed lately are played with every seed. The longest are drawn in
// parts.
func TestSmallPackagesAreDrawnWhole(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"a_test.go": "package a\nfunc TestA() {}\nfunc TestB() {}\nfunc TestC() {}\n",
		"b_test.go": "package a\nfunc TestNew() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, whole := range map[string]bool{module + "/a": true, module + "/" + longest[0]: false} {
		packages := []pkg{{Dir: dir, ImportPath: name, TestGoFiles: []string{"a_test.go", "b_test.go"}}}
		turns := map[int]int{}
		const seeds = 100
		for seed := range seeds {
			left, err := leftOut(packages, strconv.Itoa(seed), []string{filepath.Join(dir, "b_test.go")})
			if err != nil || slices.Contains(left, "TestNew") {
				t.Fatalf("seed %d leaves out %v, %v", seed, left, err)
			}
			turns[len(left)]++
		}
		if turns[0] == 0 || turns[3] == 0 || whole != (turns[1]+turns[2] == 0) || whole && turns[0] < seeds/oneOf/2 {
			t.Errorf("%s: with how many seeds so many tests are left out: %v", name, turns)
		}
	}
}

// TestChangedTests: the files of tests are found that the last commits with any have changed, and
// those that differ from the last commit. The first commit has changed nothing.
func TestChangedTests(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} { // of a hook: another repository
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := changed(t.Context(), root, 1); err == nil {
		t.Error("a directory outside any repository has changes")
	}
	do := func(args ...string) {
		t.Helper()
		if _, err := git(t.Context(), root, append([]string{
			"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false",
		}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	write := func(file string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), []byte("package a // "+t.Name()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do("init", "-q")
	write("old/a_test.go")
	do("add", ".")
	do("commit", "-q", "-m", "the first")
	for _, file := range []string{"first/a_test.go", "second/a_test.go", "second/a.go"} {
		write(file)
		do("add", ".")
		do("commit", "-q", "-m", file)
	}
	write("added/a_test.go")
	for commits, want := range map[int][]string{
		1: {"second/a_test.go", "added/a_test.go"}, // second/a.go is of a later commit
		2: {"first/a_test.go", "second/a_test.go", "added/a_test.go"},
		9: {"first/a_test.go", "second/a_test.go", "added/a_test.go"},
	} {
		got, err := changed(t.Context(), root, commits)
		if err != nil {
			t.Fatal(err)
		}
		top, err := filepath.EvalSymlinks(root)
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range got {
			if got[i], err = filepath.Rel(top, path); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("within %d commits %v, want %v", commits, got, want)
		}
	}
}
