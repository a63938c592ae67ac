package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDrawnModules: each nested module has its turn, but not most of the time. One that may be
// broken is tried with every seed.
func TestDrawnModules(t *testing.T) {
	t.Chdir("../..")
	dirs, err := below(".")
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 120
	times := map[string]int{}
	for seed := range seeds {
		those, err := drawn(dirs, fmt.Sprint("seed ", seed), []string{"examples/postgres/main.go"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range those {
			dir := filepath.ToSlash(m.dir)
			times[dir]++
			if m.whole != (dir == "examples/postgres") {
				t.Errorf("%s may be broken: %t", dir, m.whole)
			}
		}
	}
	for _, dir := range dirs {
		n, most := times[filepath.ToSlash(dir)], seeds*2/3
		if filepath.ToSlash(dir) == "examples/postgres" {
			most = seeds
		}
		if n == 0 || n > most || most == seeds && n != seeds {
			t.Errorf("%s is tried with %d seeds of %d", dir, n, seeds)
		}
	}
}

// TestTouched says which nested modules a change of one file may break.
func TestTouched(t *testing.T) {
	t.Chdir("../..")
	for file, want := range map[string][]string{
		"README.md":                                   nil,
		"internal/protocol/machine.go":                nil,
		"bench/peers/jobs/throughput.go":              {"bench/peers"},
		"bench/proc/proc.go":                          {"bench/peers"},
		"bench/proc/proc_test.go":                     nil,
		"deploy/kubernetes/Dockerfile":                {"deploy/check"},
		"examples/fencing/sqlite/go.mod":              {"examples/fencing/sqlite"},
		"examples/fencing/main.go":                    nil,
		"kube/controllerruntime/runner.go":            {"examples/kubernetes", "kube/controllerruntime"},
		"internal/architecture/testdata/api/kube.txt": {"kube/controllerruntime"},
		"kube/label.go":                               nil, // its API is the same
		"internal/natstest/server.go":                 nil,
	} {
		dirs, err := below(".")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, dir := range dirs {
			packages, err := uses(dir)
			if err != nil {
				t.Fatal(err)
			}
			if touched(dir, packages, []string{filepath.FromSlash(file)}) {
				got = append(got, filepath.ToSlash(dir))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("a change of %s: %v, want %v", file, got, want)
		}
	}
}

// TestKeptAPIs: what compiles against an API compiles against one that has other comments, and
// more.
func TestKeptAPIs(t *testing.T) {
	const before = `package p // import "p"

Package p is old.

const X = 2 is not a declaration here.

CONSTANTS

const (
	// A is one.
	A = 1
	B = 2
)
    Two of them.

TYPES

type T struct {
	// F is a field.
	F int
	// Has unexported fields.
}
    T is a type.

func (t T) M(a int) error
    M is a method.
`
	for _, c := range []struct {
		old, new string
		keeps    bool
	}{
		{"", "", true},
		{"is old", "is new, and says more\nin two lines", true},
		{"// A is one.", "// A is not two.", true},
		{"    T is a type.\n", "    T is a type. See U.\n\ntype U struct {\n\tF int\n}\n", true},
		{"    Two of them.\n", "", true},
		{"	B = 2\n", "", false},
		{"B = 2", "B = 3", false},
		{"	F int\n", "	F int64\n", false},
		{"	F int\n", "	F int\n	G bool\n", true}, // go vet wants names in a literal
		{"	F int\n", "	E bool\n	F int\n", true},
		{"	F int\n", "	F int\n	G []int\n", false}, // == does not compile any more
		{"	F int\n", "	G int\n", false},
		{"func (t T) M(a int) error\n", "func (t T) M(a, b int) error\n", false},
		{"func (t T) M(a int) error\n    M is a method.\n", "", false},
	} {
		now := strings.Replace(before, c.old, c.new, 1)
		if got := keeps(before, now); got != c.keeps {
			t.Errorf("%q for %q: kept: %t, want %t", c.new, c.old, got, c.keeps)
		}
	}
	if none := "Package p declares nothing."; !keeps(none, before) || keeps(before, none) || !keeps("", none) {
		t.Error("an API of no declarations keeps nothing, and is kept by every other one")
	}
	files, err := filepath.Glob("../architecture/testdata/api/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(declarations(string(text))); n < 3 {
			t.Errorf("%s: %d declarations are found", file, n)
		}
	}
}
