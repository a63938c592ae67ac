package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
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
		if n := len(left); n < len(all)*(draw.OneOf-1)/draw.OneOf-25 || n > len(all)*(draw.OneOf-1)/draw.OneOf+25 {
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
		if n := turns[name]; n < seeds/draw.OneOf/2 {
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
		if turns[0] == 0 || turns[3] == 0 || whole != (turns[1]+turns[2] == 0) || whole && turns[0] < seeds/draw.OneOf/2 {
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
	if _, err := changed(t.Context(), root, 1, filesOfTest); err == nil {
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
		got, err := changed(t.Context(), root, commits, filesOfTest)
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

// TestLongTestsAreDrawnTogether: of the long tests, those are played of which the race stage plays
// a commit's part, and with each seed most of the others are left out. A test of a file
// that changed lately is played. Nothing is said about packages without long tests.
func TestLongTestsAreDrawnTogether(t *testing.T) {
	dir := t.TempDir()
	var all []string
	for i := range few {
		all = append(all, "TestMany"+strconv.Itoa(i))
	}
	for file, text := range map[string]string{
		"small_test.go": "package a\nfunc TestA() {}\nfunc TestB() {}\n",
		"new_test.go":   "package a\nfunc TestNew() {}\n",
		"many_test.go":  "package a\nfunc " + strings.Join(all, "() {}\nfunc ") + "() {}\n",
		"short_test.go": "package a\nfunc TestShort() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	packages := []pkg{
		{Dir: dir, ImportPath: module + "/small", TestGoFiles: []string{"small_test.go"}, TestImports: []string{long}},
		{
			Dir: dir, ImportPath: module + "/many", XTestGoFiles: []string{"many_test.go", "new_test.go"},
			XTestImports: []string{long},
		},
		{Dir: dir, ImportPath: module + "/short", TestGoFiles: []string{"short_test.go"}},
	}
	lately := []string{filepath.Join(dir, "new_test.go")}
	const seeds = 100
	turns := map[string]int{}
	for seed := range seeds {
		seed := strconv.Itoa(seed)
		names, err := undrawn(packages, seed, lately)
		if err != nil {
			t.Fatal(err)
		}
		left, err := leftOut(packages, seed, lately)
		if err != nil {
			t.Fatal(err)
		}
		value := draw.Value(seed, names)
		for _, name := range append(all[:len(all):len(all)], "TestA", "TestB", "TestNew") {
			if plays := draw.Plays(value, name); plays {
				turns[name]++
			} else if !slices.Contains(left, name) {
				t.Errorf("seed %s: the race stage plays %s, which tests take for left out", seed, name)
			}
		}
		if slices.Contains(names, "TestShort") {
			t.Errorf("seed %s names a test of a package without long ones", seed)
		}
	}
	for _, name := range append(all[:len(all):len(all)], "TestA", "TestB") {
		if n := turns[name]; n < seeds/draw.OneOf/2 || n > seeds*4/5 {
			t.Errorf("%s is played with %d seeds of %d", name, n, seeds)
		}
	}
	if turns["TestNew"] != seeds {
		t.Errorf("the test of a file that changed lately is played with %d seeds of %d", turns["TestNew"], seeds)
	}
}

// TestWhoIsToldOfTheDraw: the stages that run tests are told the same, or with THOROUGH=all
// nothing. A race stage that plays all tests is told nothing.
func TestWhoIsToldOfTheDraw(t *testing.T) {
	thorough.Only(t, "it lists all packages of CI")
	t.Chdir("../..")
	if _, err := git(t.Context(), ".", "rev-parse"); err != nil {
		t.Skipf("these sources are in no repository: %v", err)
	}
	t.Setenv("RACE", "")
	for _, value := range []string{"", draw.All} {
		t.Setenv(draw.Key, value)
		some, err := named([]string{"test", "race"})
		if err != nil {
			t.Fatal(err)
		}
		var told [][]string
		for _, s := range some {
			steps, err := s.steps(t.Context())
			if err != nil || len(steps) == 0 {
				t.Fatalf("%v, %v", steps, err)
			}
			told = append(told, slices.DeleteFunc(slices.Clone(steps[0].env), func(word string) bool {
				return !strings.HasPrefix(word, draw.Key+"=")
			}))
		}
		if !slices.Equal(told[0], told[1]) || (len(told[0]) == 0) != (value == draw.All) {
			t.Errorf("%s=%s: told is %v", draw.Key, value, told)
		}
		for _, word := range told[0] {
			if !strings.HasPrefix(word, draw.Key+"="+commit(t.Context())) && word != draw.Key+"="+draw.All {
				t.Errorf("told is %s", word)
			}
		}
	}
	t.Setenv(draw.Key, "")
	t.Setenv("RACE", "all")
	steps, err := races(t.Context())
	if err != nil || len(steps) == 0 {
		t.Fatalf("the race stage of all tests: %v, %v", steps, err)
	}
	for _, word := range steps[0].env {
		if strings.HasPrefix(word, draw.Key+"=") {
			t.Errorf("the race stage of all tests is told %s", word)
		}
	}
}
