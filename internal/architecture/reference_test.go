package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestReferenceIsComplete: the pages of the reference name every field of a configuration, and
// every event.
func TestReferenceIsComplete(t *testing.T) {
	configuration, events := read(t, "docs/reference/configuration.md"), read(t, "docs/reference/events.md")
	for _, of := range []struct{ dir, name string }{
		{"roles", "Config"},
		{"roles", "Role"},
		{"election", "SessionConfig"},
		{"assign", "Config"},
		{"assign", "ClientConfig"},
	} {
		fields := structs(t, of.dir)[of.name]
		if len(fields) == 0 {
			t.Errorf("%s.%s has no fields", of.dir, of.name)
		}
		for _, field := range fields {
			if !strings.Contains(configuration, "`"+field+"`") {
				t.Errorf("docs/reference/configuration.md does not name %s of %s.%s", field, of.dir, of.name)
			}
		}
	}
	for name := range structs(t, "event") {
		if name != "Meta" && !strings.Contains(events, "`"+name+"`") {
			t.Errorf("docs/reference/events.md does not name %s", name)
		}
	}
}

// structs are the exported structs of a package, with their exported fields.
func structs(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				all[spec.Name.Name] = fieldsOf(s)
			}
			return false
		})
	}
	return all
}

func fieldsOf(s *ast.StructType) (names []string) {
	for _, f := range s.Fields.List {
		for _, id := range f.Names {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	return names
}
