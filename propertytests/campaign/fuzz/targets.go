package fuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/propertytests/campaign/sources"
	"github.com/rolemanager/rolemanager/propertytests/campaign/testbinary"
)

// pkg is a package as `go list` shows it.
type pkg struct {
	Dir, ImportPath                 string
	TestGoFiles, XTestGoFiles       []string
	Deps, TestImports, XTestImports []string
}

// server reports whether the server is a part of its test program: to build that for fuzzing takes
// longer than all targets run.
func (p pkg) server() bool {
	return slices.ContainsFunc(slices.Concat(p.Deps, p.TestImports, p.XTestImports), func(name string) bool {
		return name == "github.com/nats-io/nats-server/v2/server" || name == testbinary.Module+"internal/natstest"
	})
}

// target is one fuzz target.
type target struct {
	pkg  pkg
	name string
}

func (t target) String() string { return filepath.Base(t.pkg.ImportPath) + "." + t.name }

// dir is the directory of its package, from the root of the module.
func (t target) dir() string { return strings.TrimPrefix(t.pkg.ImportPath, testbinary.Module) }

// root is the directory of the module.
func (t target) root() string { return strings.TrimSuffix(filepath.ToSlash(t.pkg.Dir), t.dir()) }

// targets are all that there are in the module.
func targets(ctx context.Context, wanted *regexp.Regexp) (all []target, err error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	list := exec.CommandContext(ctx, "go", "list",
		"-json=Dir,ImportPath,TestGoFiles,XTestGoFiles,Deps,TestImports,XTestImports", "./...")
	list.Dir, list.Stderr = strings.TrimSpace(string(root)), os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the answer of go list: %w", err)
		}
		for _, file := range append(p.TestGoFiles, p.XTestGoFiles...) {
			found, err := inFile(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, name := range found {
				if t := (target{p, name}); wanted.MatchString(t.String()) {
					all = append(all, t)
				}
			}
		}
	}
}

// marks are those of what the tests of each target's package are made of, by target.
func marks(ctx context.Context) (map[string]string, error) {
	all, err := targets(ctx, regexp.MustCompile(""))
	if err != nil {
		return nil, err
	}
	marks, known := map[string]string{}, map[string]string{}
	for _, t := range all {
		dir := t.dir()
		if known[dir] == "" {
			root := os.DirFS(t.root())
			files, err := sources.Under(root, dir)
			if err != nil {
				return nil, err
			}
			if known[dir], err = sources.Mark(root, files); err != nil {
				return nil, err
			}
		}
		marks[t.String()] = known[dir]
	}
	return marks, nil
}

// inFile are the names of the targets of one file.
func inFile(path string) (names []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("func Fuzz")) {
		return nil, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") {
			names = append(names, fn.Name.Name)
		}
	}
	return names, nil
}

// own and decoder are compiled so that the fuzzer sees which way an input goes: this module, and
// the decoder below its own. With -fuzz the go command does that to everything there is below a
// test, NATS and all: the fuzzer looks at each counter of all that after each execution, which
// makes that ten times slower and tells it nothing of a decoder.
const (
	own     = "-gcflags=github.com/rolemanager/rolemanager/...=-d=libfuzzer -dwarf=false"
	decoder = "-gcflags=encoding/json=-d=libfuzzer"
)

// build compiles the tests of each package that has a target, instrumented for fuzzing and without
// what only a debugger reads, so many at a time. The result is by directory. With the decoder
// instrumented too, all that imports it is compiled a second time, the server with it.
func build(ctx context.Context, dir string, all []target, parallel int, instrumented ...string) (
	map[string]string, error,
) {
	binaries := map[string]string{}
	building, unlessOneFails := errgroup.WithContext(ctx)
	building.SetLimit(parallel)
	for _, t := range all {
		if binaries[t.pkg.Dir] != "" {
			continue
		}
		tests := testbinary.In(dir, t.dir())
		binaries[t.pkg.Dir] = tests.Path
		building.Go(func() error {
			return tests.Build(unlessOneFails, append(slices.Clone(instrumented), "-ldflags=-w")...)
		})
	}
	return binaries, building.Wait()
}
