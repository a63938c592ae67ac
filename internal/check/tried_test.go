package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// TestDrawnModules: of many seeds, each draws some of the nested modules, and each module is drawn
// by some. One that may be broken is tried with every seed.
func TestDrawnModules(t *testing.T) {
	t.Chdir("../..")
	dirs, err := below(".")
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 60
	turns := map[string]int{}
	for seed := range seeds {
		those, err := drawn(dirs, fmt.Sprint("seed ", seed), []string{"examples/postgres/main.go"})
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range those {
			turns[filepath.ToSlash(dir)]++
		}
	}
	for _, dir := range dirs {
		n, most := turns[filepath.ToSlash(dir)], seeds/2
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
