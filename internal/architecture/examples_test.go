package architecture

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestExamplesCompileElsewhere: pkg.go.dev shows the example files of public packages, and readers
// copy them. No program outside this module can import an internal package.
func TestExamplesCompileElsewhere(t *testing.T) {
	found, names := 0, slices.Clone(publicModules)
	for _, p := range list(t) {
		if name := strings.TrimPrefix(p.ImportPath, module+"/"); !isInternal(name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		files, err := filepath.Glob(filepath.Join("../..", name, "example*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			found++
			clause, imported := header(t, file)
			if !strings.HasSuffix(clause, "_test") {
				t.Errorf("%s is of package %s: an example sees of its package what a reader sees", file, clause)
			}
			for _, path := range imported {
				if own, ok := strings.CutPrefix(path, module+"/"); ok && isInternal(own) {
					t.Errorf("%s imports %s, which no reader can", file, own)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no example file was found")
	}
}

// isInternal reports whether a path leads through an internal directory.
func isInternal(path string) bool { return strings.Contains("/"+path+"/", "/internal/") }

// header is the name of a file's package, and what the file imports.
func header(t *testing.T, file string) (clause string, imported []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imported = append(imported, path)
	}
	return parsed.Name.Name, imported
}
