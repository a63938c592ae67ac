package main

import (
	"context"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// unchecked is how many commits may come between two that are checked. A change of one of the last
// so many may have broken a nested module.
const unchecked = 10

// trial is a nested module that a commit tries: all of it if the last commits may have broken it,
// or else what is tested of it.
type trial struct {
	dir   string
	whole bool
}

// tried are those of the nested modules that a commit tries: those whose turn it is by its hash,
// and those that the last commits may have broken. With THOROUGH=all, or outside a repository, all
// are tried.
func tried(ctx context.Context, dirs []string) (those []trial, err error) {
	all := func() (those []trial) {
		for _, dir := range dirs {
			those = append(those, trial{dir, true})
		}
		return those
	}
	if os.Getenv(draw.Key) == draw.All {
		return all(), nil
	}
	files, err := changed(ctx, ".", unchecked, ".")
	if err != nil {
		return all(), nil //nolint:nilerr // nobody knows what has changed
	}
	files = slices.DeleteFunc(files, func(file string) bool { return kept(ctx, file) })
	root, err := os.Getwd()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		if files[i], err = filepath.Rel(root, file); err != nil {
			return nil, err
		}
	}
	return drawn(dirs, commit(ctx), files)
}

// drawn are the nested modules whose turn it is by a seed, and those that a change of files may
// have broken.
func drawn(dirs []string, seed string, files []string) (those []trial, err error) {
	modules := turnOf(seed).modules
	for _, dir := range dirs {
		packages, err := uses(dir)
		if err != nil {
			return nil, err
		}
		if broken := touched(dir, packages, files); broken || slices.Contains(modules, filepath.ToSlash(dir)) {
			those = append(those, trial{dir, broken})
		}
	}
	return those, nil
}

// scaffold is what tests of this module and of nested ones stand on. The tests here try a change of
// it in every commit, and a nested module that it breaks all the same has its turn soon.
const scaffold = "internal/natstest"

// touched reports whether a nested module may be broken by a change of files: of its own, of those
// that it tries, of what it uses of this module, or of the versions that this module needs. A
// public package is used by its API, and the scaffold does not count.
func touched(dir string, uses, files []string) bool {
	own := filepath.ToSlash(dir)
	if first, _, _ := strings.Cut(own, "/"); first == "deploy" { // it tries what is beside it
		own = first
	}
	return slices.ContainsFunc(files, func(file string) bool {
		file = filepath.ToSlash(file)
		if strings.HasPrefix(file, own+"/") || file == "go.mod" || file == "go.sum" {
			return true
		}
		return slices.ContainsFunc(uses, func(pkg string) bool {
			if pkg == scaffold || strings.HasPrefix(pkg, scaffold+"/") {
				return false
			}
			if api := api(pkg); api != "" {
				return file == api
			}
			return path.Dir(file) == pkg && path.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go")
		})
	})
}

// uses are the packages of this module, outside of a folder, that the Go files in the folder
// import.
func uses(dir string) (packages []string, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" || d.IsDir() {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			pkg, is := strings.CutPrefix(name, module+"/")
			if is && pkg != filepath.ToSlash(dir) && !strings.HasPrefix(pkg, filepath.ToSlash(dir)+"/") {
				packages = append(packages, pkg)
			}
		}
		return nil
	})
	slices.Sort(packages)
	return slices.Compact(packages), err
}
