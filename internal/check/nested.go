package main

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// nested are the commands for the modules below this one, which ./... leaves out: those that the
// commit tries, see tried. They are vetted. The examples are tested too, what is below package
// kube, and what is deployed, which says what it leaves out. The others measure other systems,
// which a machine may not have. Only discovery by etcd is tested there: that server comes with the
// module.
func nested(ctx context.Context) ([]step, error) {
	dirs, err := below(".")
	if err != nil {
		return nil, err
	}
	those, err := tried(ctx, dirs)
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, t := range those {
		vetted, tests := "./...", ""
		switch first, _, _ := strings.Cut(filepath.ToSlash(t.dir), "/"); first {
		case "examples", "kube":
			tests = "./..."
		case "bench":
			if tests = "./lookup"; !t.whole {
				vetted = tests // the rest takes minutes to compile, and has no test
			}
		case "deploy":
			tests = "-count 1 -v ./..."
		}
		steps = append(steps, step{line: yielding + "go vet " + vetted, dir: t.dir})
		if tests != "" {
			steps = append(steps, step{line: "go mod tidy -diff", dir: t.dir},
				step{line: yielding + "go test -vet=off " + tests, dir: t.dir})
		}
	}
	return steps, nil
}

// below lists the directories below root that have a module with Go files: a module may only name
// tools.
func below(root string) ([]string, error) {
	has := map[string]bool{filepath.Clean(root): false} // by module
	sources := map[string]bool{}                        // directories with Go files
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.Name() == "go.mod":
			has[filepath.Dir(path)] = false
		case filepath.Ext(path) == ".go":
			sources[filepath.Dir(path)] = true
		}
		return nil
	})
	for dir := range sources {
		for _, is := has[dir]; !is && dir != filepath.Dir(dir); _, is = has[dir] {
			dir = filepath.Dir(dir)
		}
		has[dir] = true
	}
	delete(has, filepath.Clean(root))
	maps.DeleteFunc(has, func(_ string, any bool) bool { return !any })
	return slices.Sorted(maps.Keys(has)), err
}
