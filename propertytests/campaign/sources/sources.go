package sources

import (
	"crypto/sha256"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// In are the Go files in some directories of a module, without their tests.
func In(module fs.FS, dirs ...string) (files []string, err error) {
	for _, dir := range dirs {
		found, err := goFiles(module, dir)
		if err != nil {
			return nil, err
		}
		files = append(files, slices.DeleteFunc(found, isTest)...)
	}
	return files, nil
}

// Under are the files that the tests of a package are made of, in the order of their names: its
// own, those of all packages of the module that they import, by whatever way, and go.mod, which
// says what comes from outside. Files of all systems and tags count. The lists of mutants (tests
// with that word in their file's name) do not: one more changes nothing for the others.
func Under(module fs.FS, pkg string) (files []string, err error) {
	text, err := fs.ReadFile(module, "go.mod")
	if err != nil {
		return nil, err
	}
	name := moduleLine.FindSubmatch(text)
	if name == nil {
		return nil, fmt.Errorf("go.mod does not name the module")
	}
	files = []string{"go.mod"}
	known := map[string]bool{}
	for todo := []string{path.Clean(pkg)}; len(todo) > 0; {
		dir := todo[0]
		if todo = todo[1:]; known[dir] {
			continue
		}
		found, err := goFiles(module, dir)
		if err != nil {
			return nil, err
		}
		tested := len(known) == 0
		known[dir] = true
		for _, file := range found {
			if isTest(file) && (!tested || strings.Contains(path.Base(file), "mutants")) {
				continue
			}
			files = append(files, file)
			below, err := imports(module, file, string(name[1]))
			if err != nil {
				return nil, err
			}
			todo = append(todo, below...)
		}
	}
	slices.Sort(files)
	return files, nil
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// imports are the directories of the module's own packages that a file imports.
func imports(module fs.FS, file, name string) (dirs []string, err error) {
	text, err := fs.ReadFile(module, file)
	if err != nil {
		return nil, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if p == name {
			dirs = append(dirs, ".")
		} else if dir, own := strings.CutPrefix(p, name+"/"); own {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

func goFiles(module fs.FS, dir string) ([]string, error) {
	files, err := fs.Glob(module, path.Join(dir, "*.go"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no Go files in %s: run it from the root of the module", dir)
	}
	return files, err
}

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }

// Mark stands for what some files hold, in their order.
func Mark(module fs.FS, files []string) (string, error) {
	sum := sha256.New()
	for _, file := range files {
		text, err := fs.ReadFile(module, file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%q %q\n", file, text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:4]), nil
}
