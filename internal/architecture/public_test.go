package architecture

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public are the packages that users import.
var public = []string{
	"assign", "assign/assignotel", "assign/keyring", "assigntest", "dashboard", "discovery", "election",
	"election/electionotel", "electiontest", "event", "fencing", "guard", "kube", "metrics", "roles",
}

// publicModules are packages that users import, each of a module of its own.
var publicModules = []string{"kube/controllerruntime"}

// notForImport are the folders below which nothing is for users to import.
var notForImport = []string{"bench", "cmd", "dashboard/pagetest", "deploy", "examples", "propertytests", "tools"}

// TestPublicIsComplete: each package that a user can import is in one of the two lists, and nothing
// else is. Their API is compared, and each of them has an example.
func TestPublicIsComplete(t *testing.T) {
	found := map[string]bool{}
	for _, source := range sources(t) {
		folder := path.Dir(filepath.ToSlash(source))
		if !strings.HasSuffix(source, "_test.go") && !isInternal(folder) && !below(folder, notForImport) {
			found[folder] = true
		}
	}
	listed := slices.Concat(public, publicModules)
	for _, name := range listed {
		if !found[name] {
			t.Errorf("%s is listed as public: it has no source, or is below %v", name, notForImport)
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("%s can be imported: list it in public of this test, or move it below internal", name)
	}
}

// below reports whether a folder is one of some, or below it.
func below(folder string, some []string) bool {
	return slices.ContainsFunc(some, func(s string) bool { return strings.HasPrefix(folder+"/", s+"/") })
}

// TestEveryPublicPackageHasAnExample: go test runs it, and compares its output.
func TestEveryPublicPackageHasAnExample(t *testing.T) {
	for _, name := range slices.Concat(public, publicModules) {
		paths, err := filepath.Glob(filepath.Join(root, name, "example*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var parsed []*ast.File
		for _, file := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		if !slices.ContainsFunc(doc.Examples(parsed...), func(e *doc.Example) bool { return e.Output != "" }) {
			t.Errorf("%s has no example with an output in an example_test.go", name)
		}
	}
}
