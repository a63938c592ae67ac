package main

import (
	"cmp"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// races are the commands that run, with the race detector, the tests that run concurrent code of
// this module. Tests that move much or last for long are left out by -short: the test stage runs
// them, and other tests have the same goroutines do less.
//
// A commit plays a part of the tests, which its hash draws, and those of files that the last
// commits have changed. Small packages are drawn as a whole. With RACE=all it plays all of them. A
// package of which it plays none is not built.
func races(ctx context.Context) ([]step, error) {
	packages, err := list(ctx, ".", "")
	if err != nil {
		return nil, err
	}
	names, err := raced(packages)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.ContainsFunc(unraced, within(name)) })
	if len(names) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	skip, env := unracedTests, []string(nil)
	packages = slices.DeleteFunc(packages, func(p pkg) bool { return !slices.Contains(names, p.ImportPath) })
	// outside a repository nobody knows what has changed
	if lately, err := changed(ctx, ".", recent, filesOfTest); err == nil && os.Getenv("RACE") != "all" {
		others, err := leftOut(packages, commit(ctx), lately)
		if err != nil {
			return nil, err
		}
		skip = slices.Concat(skip, others)
		if env, err = longOnes(ctx); err != nil {
			return nil, err
		}
	}
	for _, p := range packages {
		if plays, err := playsAny(p, skip); err != nil {
			return nil, err
		} else if !plays {
			names = slices.DeleteFunc(names, func(name string) bool { return name == p.ImportPath })
		}
	}
	flags, err := goEnv(ctx, "GOFLAGS")
	if err != nil {
		return nil, err
	}
	const one = test + "-race -run ^TestElection$ ./propertytests/model/electionsim -args -sim.schedules 60"
	return []step{
		{
			line: test + "-race -short -skip ^(" + strings.Join(skip, "|") + ")$ " + strings.Join(names, " "),
			env:  append(env, detecting(flags)...),
		},
		{line: one, env: detecting(flags)},
	}, nil
}

// detecting is the environment in which the detector is built, beside the flags that are set. It
// needs C. Most of its time is to compile: that takes three quarters where nothing is inlined, and
// the tests a twentieth longer.
func detecting(flags string) []string {
	return []string{"CGO_ENABLED=1", "GOFLAGS=" + strings.TrimSpace(flags+" '-gcflags=all=-dwarf=false -l'")}
}

// unraced are folders that the race stage leaves out, although their code is concurrent. Most tests
// of the first five start programs, which are built without the detector. The simulations play
// schedules side by side, each in a world of its own: a few of them show that nothing is shared.
// The next are what tests stand on, which the tests of the other packages run under the detector,
// and permissions, which are about what the server allows. The rest starts no goroutine, in its
// code or in its tests, but those that read files side by side.
var unraced = []string{
	"bench", "cmd", "examples", "internal/check", "propertytests/campaign", "propertytests/model",
	"internal/natsrun", "internal/natstest", "propertytests/live/elections", "propertytests/live/permissions",
	"propertytests/live/tasks",
	"assign/internal/record", "assign/internal/sealed", "assign/keyring", "deploy/grafana", "internal/findings",
}

// unracedTests are tests that the race stage leaves out: the first compares texts, and storms of
// tasks have all goroutines of the next two. The others move much, or last for hours of virtual
// time, with goroutines that the other tests of their packages have too.
//
// The server's own code stays under the detector. Without it, the linker would take the server's
// copies of generic functions for all code, and the detector would report races in encoding/json.
var unracedTests = []string{
	"TestTasksMutantsFit", "TestTasksSchedulerLostAtEveryWrite", "TestDeploysEveryHour",
	"TestSlowReaderMissesNothingImportant", "TestSlowReceiverHoldsTheServerUp",
	"TestEndedSessionsLeaveNothing", "TestWantedRoleIsRemembered", "TestCandidatesAtRest",
	"TestLostAnswersOfBatches", "TestBatchesWithoutAnAnswer", "TestBackfilledTasksRunInTurn",
	"TestRefusedBatchOfSubmissions", "TestALargeOutputLeavesWithItsOutcome",
	"TestASchedulerThatMayNotRemoveOutputs", "TestRolesOfACrashedProcess", "TestNamesThatComeAndGo",
	"TestMembersAreReadWithTheirBundles", "TestGroupThatIsNeverClosed", "TestThousandRolesChangeHands",
	"TestNameOfAGroupWhoseDeadMembersAreKept", "TestStatusOfSteered",
}

// place is where a package comes among those that take longest, or behind them.
func place(name string) int {
	if i := slices.Index(longest, strings.TrimPrefix(name, module+"/")); i >= 0 {
		return i
	}
	return len(longest)
}

// within reports whether a package is in a folder or below it.
func within(name string) func(folder string) bool {
	return func(folder string) bool { return strings.HasPrefix(name+"/", module+"/"+folder+"/") }
}

// raced are the packages whose tests run concurrent code: that of the tests, that of the package,
// or that of a package of this module that one of these imports, directly or not.
func raced(packages []pkg) (names []string, err error) {
	byName, concurrent := map[string]pkg{}, map[string]bool{}
	for _, p := range packages {
		byName[p.ImportPath] = p
		if concurrent[p.ImportPath], err = anyConcurrent(p.Dir, p.GoFiles); err != nil {
			return nil, err
		}
	}
	var reaches func(from []string, seen map[string]bool) bool
	reaches = func(from []string, seen map[string]bool) bool {
		return slices.ContainsFunc(from, func(name string) bool {
			p, own := byName[name]
			if !own || seen[name] {
				return false
			}
			seen[name] = true
			return concurrent[name] || reaches(p.Imports, seen)
		})
	}
	for _, p := range packages {
		if len(p.tests()) == 0 {
			continue
		}
		is, err := anyConcurrent(p.Dir, p.tests())
		if err != nil {
			return nil, err
		}
		if is || reaches(slices.Concat([]string{p.ImportPath}, p.TestImports, p.XTestImports), map[string]bool{}) {
			names = append(names, p.ImportPath)
		}
	}
	return names, nil
}

// anyConcurrent reports whether one of the files has code that more than one goroutine runs.
func anyConcurrent(dir string, files []string) (bool, error) {
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		if isConcurrent(f) {
			return true, nil
		}
	}
	return false, nil
}

// concurrentImports are packages that only concurrent code needs, concurrentCalls functions and
// methods that start a goroutine.
var (
	concurrentImports = []string{"sync", "sync/atomic", "golang.org/x/sync/errgroup"}
	concurrentCalls   = []string{"AfterFunc", "Parallel", "RunParallel"}
)

// isConcurrent looks for a go or select statement, a channel, an import that only concurrent code
// needs, and a call that starts a goroutine.
func isConcurrent(f *ast.File) (is bool) {
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value) // it was parsed
		is = is || slices.Contains(concurrentImports, path)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
			is = true
		case *ast.SelectorExpr:
			is = is || slices.Contains(concurrentCalls, n.Sel.Name)
		}
		return !is
	})
	return is
}
