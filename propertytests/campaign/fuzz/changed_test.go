package fuzz

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/propertytests/campaign/testbinary"
)

// TestChanged: a package has changed if one of the last commits changed it, or if it differs from
// the last commit.
func TestChanged(t *testing.T) {
	root := t.TempDir()
	// a hook has them, and they name another repository
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		args = append([]string{
			"-C", root, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c",
			"commit.gpgsign=false",
		}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(commits int, want ...string) {
		t.Helper()
		dirs, err := changed(t.Context(), root, commits)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{"first", "second", "third", "edited", "added"} {
			if dirs[dir] != slices.Contains(want, dir) {
				t.Errorf("%s has changed within %d commits: %v", dir, commits, dirs[dir])
			}
		}
	}
	if _, err := changed(t.Context(), root, 1); err == nil {
		t.Error("a directory outside any repository has changes")
	}
	git("init", "-q")
	write("edited/a.go", "package edited")
	for _, dir := range []string{"first", "second", "third"} {
		write(dir+"/a.go", "package "+dir)
		git("add", ".")
		git("commit", "-q", "-m", dir)
	}
	check(1, "third")
	check(2, "second", "third")
	check(9, "second", "third") // nothing is before the first
	write("edited/a.go", "package edited // edited")
	write("added/a.go", "package added")
	write("first/a.txt", "not Go")
	write("first/b_test.go", "package first") // no target
	check(1, "third", "edited", "added")
	write("first/b_test.go", "package first\nfunc FuzzA() {}\n")
	check(1, "third", "edited", "added", "first")
}

// TestDrawn: the targets of packages that have changed run, and so does a tenth of the others,
// which the seed draws: of few packages, and with the server in the tests of all of these, or of
// none. Over many seeds each has its turn. Without a seed all run.
func TestDrawn(t *testing.T) {
	var all []target
	for _, dir := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"} {
		for _, name := range []string{"FuzzA", "FuzzB"} {
			p := pkg{ImportPath: testbinary.Module + dir}
			if dir < "f" {
				p.XTestImports = []string{testbinary.Module + "internal/natstest"}
			}
			all = append(all, target{p, name})
		}
	}
	if some := (plan{}).drawn(all, nil); len(some) != len(all) {
		t.Errorf("without a seed %d targets of %d run", len(some), len(all))
	}
	turns := map[string]int{}
	for seed := range 100 {
		p := plan{seed: strconv.Itoa(seed)}
		some, again := p.drawn(all, map[string]bool{"a": true}), p.drawn(all, map[string]bool{"a": true})
		if len(some) != 5 || some[0].dir() != "a" || fmt.Sprint(some) != fmt.Sprint(again) {
			t.Fatalf("seed %d draws %v, and then %v", seed, some, again)
		}
		if some[2].pkg.server() != some[4].pkg.server() || some[2].dir() != some[3].dir() {
			t.Errorf("seed %d draws %v beside what has changed", seed, some[2:])
		}
		for _, f := range some {
			turns[f.String()]++
		}
	}
	for _, f := range all {
		if turns[f.String()] < 4 {
			t.Errorf("%s is drawn %d times in 100", f, turns[f.String()])
		}
	}
}

// TestTimes: a target whose package has changed runs longer, as far as there is time.
func TestTimes(t *testing.T) {
	all := []target{{pkg{ImportPath: testbinary.Module + "a"}, "FuzzA"}, {
		pkg{ImportPath: testbinary.Module + "b"},
		"FuzzB",
	}, {pkg{ImportPath: testbinary.Module + "b"}, "FuzzC"}}
	both, b := map[string]bool{"a": true, "b": true}, map[string]bool{"b": true}
	for _, c := range []struct {
		name    string
		most    time.Duration
		changed map[string]bool
		want    []time.Duration
	}{
		{"none has changed", time.Minute, nil, []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}},
		{"some have", time.Minute, b, []time.Duration{3 * time.Second, 20 * time.Second, 20 * time.Second}},
		{"all have, without a limit", 0, both, []time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second}},
		{"they share what is left", 15 * time.Second, both, []time.Duration{
			10 * time.Second, 10 * time.Second,
			10 * time.Second,
		}},
		{"nothing is left", time.Second, both, []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}},
	} {
		p := plan{each: 3 * time.Second, longer: 20 * time.Second, most: c.most}
		if got := p.times(all, c.changed, 2); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
