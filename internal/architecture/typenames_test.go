package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// rooms are the folders below which an unexported type name means one thing.
var rooms = []string{"assign", "cmd/rolectl", "internal/protocol", "propertytests"}

// TestTypeNames: below a room no two unexported types have one name, tests and local types
// included.
func TestTypeNames(t *testing.T) {
	for _, room := range rooms {
		first := map[string]string{}
		for _, at := range unexportedTypes(t, filepath.Join("../..", room)) {
			if other := first[at.name]; other != "" {
				t.Errorf("%s: the name %s is used at %s too: find a second name", at.place, at.name, other)
			}
			first[at.name] = at.place
		}
	}
}

// declared is a type and where it is declared.
type declared struct{ name, place string }

// unexportedTypes are those of all files below a folder.
func unexportedTypes(t *testing.T, folder string) (all []declared) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && !s.Name.IsExported() {
				all = append(all, declared{s.Name.Name, set.Position(s.Pos()).String()})
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
