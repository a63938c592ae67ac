package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// oneOf is of how many tests the race stage plays one with a commit.
const oneOf = 3

// few is how many tests a package needs to be drawn test by test. A smaller one is drawn as a
// whole, unless it is among the longest: to build it takes longer than to run its tests.
const few = 20

// recent is within how many commits that changed tests a file has changed lately.
const recent = 3

// leftOut are the tests of packages that a commit does not play: all but those that its hash draws,
// and those in files that changed lately. Tests with the same name are played or left out together,
// in whichever package they are.
func leftOut(packages []pkg, seed string, lately []string) (names []string, err error) {
	keep := map[string]bool{}
	for _, p := range packages {
		byFile, all := map[string][]string{}, 0
		for _, file := range p.tests() {
			path := filepath.Join(p.Dir, file)
			if byFile[path], err = testsIn(path); err != nil {
				return nil, err
			}
			all += len(byFile[path])
		}
		whole := all < few && place(p.ImportPath) == len(longest)
		for path, tests := range byFile {
			for _, name := range tests {
				is := drawn(seed, name)
				if whole {
					is = drawn(seed, p.ImportPath)
				}
				keep[name] = keep[name] || is || slices.Contains(lately, path)
			}
		}
	}
	for name, is := range keep {
		if !is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
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

// drawn reports whether a seed draws a test. It is always the same for one seed, and with other
// seeds each test has its turn.
func drawn(seed, name string) bool {
	sum := sha256.Sum256([]byte(seed + "\n" + name))
	return sum[0]%oneOf == 0
}

// testsIn are the names of the tests in a file.
func testsIn(path string) (names []string, err error) {
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
	return names, nil
}

// changed are the files of tests that the last commits with any have changed, or that differ from
// the last commit. The first commit of a repository, or of a part of one, has changed nothing.
func changed(ctx context.Context, dir string, commits int) (paths []string, err error) {
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	for _, question := range [][]string{
		{"-c", "log.showRoot=false", "log", fmt.Sprint("-", commits), "-m", "--first-parent", "--format=", "--name-only"},
		{"diff", "--name-only", "HEAD"},
		{"ls-files", "--full-name", "--others", "--exclude-standard"},
	} {
		files, err := git(ctx, dir, append(question, "--", "*_test.go")...)
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
