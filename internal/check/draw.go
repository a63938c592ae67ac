package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// few is how many tests a package needs to be drawn test by test. A smaller one is drawn as a
// whole, unless it is among the longest: to build it takes longer than to run its tests.
const few = 20

// recent is within how many commits that changed tests a file of tests has changed lately.
const (
	recent      = 3
	filesOfTest = "*_test.go"
)

// leftOut are the tests of packages that a commit does not play: all but those that its hash draws,
// and those in files that changed lately. Tests with the same name are played or left out together,
// in whichever package they are.
func leftOut(packages []pkg, seed string, lately []string) (names []string, err error) {
	all, err := played(packages, seed, lately)
	for name, is := range all {
		if !is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// played says of each test of packages whether a commit plays it.
func played(packages []pkg, seed string, lately []string) (all map[string]bool, err error) {
	all = map[string]bool{}
	for _, p := range packages {
		byFile, n := map[string][]string{}, 0
		for _, file := range p.tests() {
			path := filepath.Join(p.Dir, file)
			if byFile[path], err = testsIn(path); err != nil {
				return nil, err
			}
			n += len(byFile[path])
		}
		whole := n < few && place(p.ImportPath) == len(longest)
		for path, tests := range byFile {
			for _, name := range tests {
				is := draw.Draws(seed, name)
				if whole {
					is = draw.Draws(seed, p.ImportPath)
				}
				all[name] = all[name] || is || slices.Contains(lately, path)
			}
		}
	}
	return all, nil
}

// long is the package by which tests say that they are long.
const long = module + "/internal/natstest/thorough"

// longOnes is an environment that tells the tests which of the long ones the commit draws: all that
// the race stage draws, so that no stage plays others than the one before. With THOROUGH=all
// nothing is said, so all are played. So they are outside a repository.
func longOnes(ctx context.Context) (env []string, err error) {
	if os.Getenv(draw.Key) == draw.All {
		return nil, nil
	}
	lately, err := changed(ctx, ".", recent, filesOfTest)
	if err != nil {
		return []string{draw.Key + "=" + draw.All}, nil // nobody knows what has changed
	}
	packages, err := list(ctx, ".", "")
	if err != nil {
		return nil, err
	}
	seed := commit(ctx)
	names, err := undrawn(packages, seed, lately)
	return []string{draw.Key + "=" + draw.Value(seed, names)}, err
}

// undrawn are the tests in packages with long ones that a commit plays although its hash does not
// draw their names: their file has changed lately, or it draws their package. They are followed by
// the programs of the packages with such files, which play the larger of two sizes.
func undrawn(packages []pkg, seed string, lately []string) (names []string, err error) {
	all, err := played(packages, seed, lately)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		if !slices.Contains(p.TestImports, long) && !slices.Contains(p.XTestImports, long) {
			continue
		}
		for _, file := range p.tests() {
			tests, err := testsIn(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, name := range tests {
				if all[name] && !draw.Draws(seed, name) {
					names = append(names, name)
				}
			}
			if slices.Contains(lately, filepath.Join(p.Dir, file)) {
				names = append(names, draw.Program(p.ImportPath))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// playsAny reports whether a package has a test that is not among those left out.
func playsAny(p pkg, skip []string) (bool, error) {
	for _, file := range p.tests() {
		tests, err := testsIn(filepath.Join(p.Dir, file))
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(tests, func(name string) bool { return !slices.Contains(skip, name) }) {
			return true, nil
		}
	}
	return false, nil
}

// inFiles are the names of tests by their file, each of which is asked for several times.
var inFiles sync.Map

// testsIn are the names of the tests in a file. The process reads it once.
func testsIn(path string) (names []string, err error) {
	if names, is := inFiles.Load(path); is {
		return names.([]string), nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		d, is := d.(*ast.FuncDecl)
		if !is || d.Recv != nil || d.Name.Name == "TestMain" || !strings.HasPrefix(d.Name.Name, "Test") {
			continue
		}
		names = append(names, d.Name.Name)
	}
	inFiles.Store(path, names)
	return names, nil
}

// changed are the files of a pattern that the last commits with any have changed, or that differ
// from the last commit. The first commit of a repository, or of a part of one, has changed nothing.
func changed(ctx context.Context, dir string, commits int, pattern string) (paths []string, err error) {
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	for _, question := range [][]string{
		{"-c", "log.showRoot=false", "log", fmt.Sprint("-", commits), "-m", "--first-parent", "--format=", "--name-only"},
		{"diff", "--name-only", "HEAD"},
		{"ls-files", "--full-name", "--others", "--exclude-standard"},
	} {
		files, err := git(ctx, dir, append(question, "--", pattern)...)
		if err != nil {
			return nil, err
		}
		for file := range strings.FieldsSeq(files) {
			paths = append(paths, filepath.Join(strings.TrimSpace(top), filepath.FromSlash(file)))
		}
	}
	return paths, nil
}

// git asks the repository of a directory.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
