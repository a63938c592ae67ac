package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// compiler checks whether mutants compile, one package at a time and without building anything: a
// mutant that does not compile would be noticed only when it is drawn.
type compiler struct {
	root     string
	files    *token.FileSet
	packages map[string]*goPackage // by folder
	imports  types.Importer
}

// goPackage is a package as "go list" describes it.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	parsed                  map[string]*ast.File
}

// newCompiler asks for all packages below folders, and for what they import.
func newCompiler(root string, folders []string) (*compiler, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	for _, folder := range folders {
		args = append(args, "./"+folder+"/...")
	}
	list := exec.Command("go", args...)
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	c := &compiler{root: root, files: token.NewFileSet(), packages: map[string]*goPackage{}}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := goPackage{parsed: map[string]*ast.File{}}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if folder, err := filepath.Rel(root, p.Dir); err == nil {
			c.packages[filepath.ToSlash(folder)] = &p
		}
	}
	c.imports = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return c, nil
}

// check returns why the packages of changed files do not compile.
func (c *compiler) check(changed tree) error {
	checked := map[string]bool{}
	for file := range changed {
		folder := path.Dir(file)
		if checked[folder] {
			continue
		}
		checked[folder] = true
		p := c.packages[folder]
		if p == nil {
			return fmt.Errorf("%s is in no package that is known", file)
		}
		files, err := c.parse(p, folder, changed)
		if err != nil {
			return err
		}
		if _, err := (&types.Config{Importer: c.imports}).Check(p.ImportPath, c.files, files, nil); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the files of a package, each that has not changed once.
func (c *compiler) parse(p *goPackage, folder string, changed tree) (files []*ast.File, err error) {
	for _, name := range p.GoFiles {
		text, is := changed[path.Join(folder, name)]
		f := p.parsed[name]
		switch {
		case is:
			f, err = parser.ParseFile(c.files, name, text, parser.SkipObjectResolution)
		case f == nil:
			f, err = parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			p.parsed[name] = f
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}
