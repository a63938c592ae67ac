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
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// compiler checks whether mutants compile, one package at a time and without building anything: a
// mutant that does not compile would be noticed only when it is drawn.
//
// Most mutants change what is within functions. The other files of their package cannot notice
// that, so their functions are checked without bodies.
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
	parsed                  map[string]*parsedFile
}

// parsedFile is a file as it is.
type parsedFile struct {
	whole, hollow *ast.File // hollow: its functions have no bodies
	outside       string    // its text without the bodies
}

// newCompiler asks for the packages in folders, and for what they import.
func newCompiler(root string, folders []string) (*compiler, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	for _, folder := range folders {
		args = append(args, "./"+folder)
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
		p := goPackage{parsed: map[string]*parsedFile{}}
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

// checkAll returns for each change why its packages do not compile. Changes of different files are
// checked at once, and one by one only if that fails. One could hide what is wrong with another one
// by a declaration that the other misses, or by the use of one that the other removes.
func (c *compiler) checkAll(changes []tree) []error {
	errs := make([]error, len(changes))
	for _, round := range rounds(changes) {
		all := tree{}
		for _, i := range round {
			maps.Copy(all, changes[i])
		}
		if c.check(all) == nil {
			continue
		}
		for _, i := range round {
			errs[i] = c.check(changes[i])
		}
	}
	return errs
}

// rounds are changes by their places in a list, no two of a round of the same file.
func rounds(changes []tree) (all [][]int) {
	next := map[string]int{} // the first round in which a file is free
	for i, change := range changes {
		at := 0
		for file := range change {
			at = max(at, next[file])
		}
		if at == len(all) {
			all = append(all, nil)
		}
		all[at] = append(all[at], i)
		for file := range change {
			next[file] = at + 1
		}
	}
	return all
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
		if err := c.typed(p, files); err != nil {
			return err
		}
	}
	return nil
}

// typed returns the first error of a package's types. A file without bodies seems to import what it
// does not use.
func (c *compiler) typed(p *goPackage, files []*ast.File) (first error) {
	cfg := types.Config{Importer: c.imports, Error: func(err error) {
		var e types.Error
		isHollow := errors.As(err, &e) && strings.HasPrefix(c.files.Position(e.Pos).Filename, hollowed)
		if first == nil && !(isHollow && e.Soft) {
			first = err
		}
	}}
	_, _ = cfg.Check(p.ImportPath, c.files, files, nil) // it has been told of each error
	return first
}

// parse returns the files of a package, the changed ones whole.
func (c *compiler) parse(p *goPackage, folder string, changed tree) (files []*ast.File, err error) {
	within := true // functions
	for _, name := range p.GoFiles {
		if p.parsed[name] == nil {
			if p.parsed[name], err = c.read(p, name); err != nil {
				return nil, err
			}
		}
		if text, is := changed[path.Join(folder, name)]; is {
			f, err := parser.ParseFile(c.files, name, text, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			within = within && outside(c.files, f, text) == p.parsed[name].outside
			files = append(files, f)
		}
	}
	for _, name := range p.GoFiles {
		switch _, is := changed[path.Join(folder, name)]; {
		case is:
		case within:
			files = append(files, p.parsed[name].hollow)
		default:
			files = append(files, p.parsed[name].whole)
		}
	}
	return files, nil
}

// read reads a file as it is.
func (c *compiler) read(p *goPackage, name string) (s *parsedFile, err error) {
	text, err := os.ReadFile(filepath.Join(p.Dir, name))
	if err != nil {
		return nil, err
	}
	s = &parsedFile{}
	if s.whole, err = parser.ParseFile(c.files, name, text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	s.outside = outside(c.files, s.whole, string(text))
	if s.hollow, err = parser.ParseFile(c.files, hollowed+name, text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	for _, f := range functions(s.hollow) {
		f.Body = nil
	}
	return s, nil
}

// hollowed begins the name of a file without bodies.
const hollowed = "hollow "

// functions are those of a file that can do without a body: main, init and generic ones cannot.
func functions(f *ast.File) (all []*ast.FuncDecl) {
	for _, d := range f.Decls {
		f, is := d.(*ast.FuncDecl)
		if is && f.Body != nil && f.Type.TypeParams == nil && f.Name.Name != "init" && f.Name.Name != "main" {
			all = append(all, f)
		}
	}
	return all
}

// outside is the text of a file without the bodies of its functions.
func outside(files *token.FileSet, f *ast.File, text string) string {
	var b strings.Builder
	at := 0
	for _, f := range functions(f) {
		b.WriteString(text[at:files.Position(f.Body.Lbrace).Offset])
		at = files.Position(f.Body.Rbrace).Offset
	}
	b.WriteString(text[at:])
	return b.String()
}
