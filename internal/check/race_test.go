package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestConcurrentCode: each sign of a second goroutine is seen, and code without one is left alone.
func TestConcurrentCode(t *testing.T) {
	for text, want := range map[string]bool{
		"func f() { go f() }":                   true,
		"func f() { select {} }":                true,
		"var c chan int":                        true,
		"func f(c T) { c <- 1 }":                true,
		"import \"sync\"":                       true,
		"import \"sync/atomic\"":                true,
		"import \"golang.org/x/sync/errgroup\"": true,
		"func f(t *testing.T) { t.Parallel() }": true,
		"func f() { time.AfterFunc(1, f) }":     true,
		"import \"slices\"":                     false,
		"func f() { for range 3 { f() } }":      false,
		"var Parallel = 3":                      false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\n"+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if isConcurrent(f) != want {
			t.Errorf("%s: concurrent is %v", text, !want)
		}
	}
}

// TestRacedPackages: the race stage has every package of this module with concurrent code and
// tests, and those that use them.
func TestRacedPackages(t *testing.T) {
	packages, err := list(t.Context(), "../..", "")
	if err != nil {
		t.Fatal(err)
	}
	names, err := raced(packages)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"election":                       true,  // goroutines of its own
		"fencing":                        true,  // atomics
		"propertytests/live/permissions": true,  // its tests alone, and election
		"propertytests/live/storms":      true,  // nothing of its own: it uses packages that have
		"internal/protocol":              false, // pure
		"event":                          false, // values
	} {
		if slices.Contains(names, module+"/"+name) != want {
			t.Errorf("%s has concurrent code: %v", name, !want)
		}
	}
	for _, p := range packages {
		concurrent, err := anyConcurrent(p.Dir, p.files())
		if err != nil {
			t.Fatal(err)
		}
		if concurrent && len(p.tests()) > 0 && !slices.Contains(names, p.ImportPath) {
			t.Errorf("%s has concurrent code and tests, and the race stage leaves it out", p.ImportPath)
		}
	}
}

// TestLongest: the packages that a stage begins with are there, and the race stage begins with
// them.
func TestLongest(t *testing.T) {
	t.Setenv("RACE", "all")
	t.Chdir("../..")
	for _, folder := range longest {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", folder, err)
		}
	}
	steps, err := races(t.Context())
	if err != nil || len(steps) == 0 {
		t.Fatalf("%v, %v", steps, err)
	}
	if !strings.Contains(steps[0].line, ")$ "+module+"/"+longest[0]+" "+module+"/"+longest[1]+" ") {
		t.Errorf("it begins with others: %s", steps[0].line)
	}
}

// TestUnraced: a folder that is left out exists, and is left out with those below it alone.
func TestUnraced(t *testing.T) {
	t.Setenv("RACE", "all")
	t.Chdir("../..")
	for _, folder := range unraced {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", folder, err)
		}
	}
	steps, err := races(t.Context())
	if err != nil || len(steps) != 2 {
		t.Fatalf("%v, %v", steps, err)
	}
	for name, want := range map[string]bool{
		"assign": true, "assigntest": true, "election": true, "propertytests/live/storms": true,
		"cmd/rolectl": false, "propertytests/live/permissions": false, "assign/internal/record": false,
		"propertytests/live/shards": false, "propertytests/live/deploys": false, // no test of theirs is played
		"propertytests/model/electionsim": false, "propertytests/campaign/mutants": false,
	} {
		if slices.Contains(strings.Fields(steps[0].line), module+"/"+name) != want {
			t.Errorf("%s is raced: %v", name, !want)
		}
	}
}

// TestUnracedTests: each test that is left out exists, and the command names it.
func TestUnracedTests(t *testing.T) {
	thorough.Only(t, "it lists all packages of CI")
	t.Chdir("../..")
	steps, err := races(t.Context())
	if err != nil || len(steps) == 0 {
		t.Fatalf("%v, %v", steps, err)
	}
	packages, err := list(t.Context(), ".", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range unracedTests {
		found := false
		for _, p := range packages {
			for _, file := range p.tests() {
				text, err := os.ReadFile(filepath.Join(p.Dir, file))
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(text), "\nfunc "+name+"(")
			}
		}
		if !found || !strings.Contains(steps[0].line, name) {
			t.Errorf("%s: found %v, in %s", name, found, steps[0].line)
		}
	}
}
