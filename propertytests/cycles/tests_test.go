package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryTestThatPlaysIsKnown: those that say how many cycles they have played are those that are played here.
func TestEveryTestThatPlaysIsKnown(t *testing.T) {
	paths, err := filepath.Glob("../*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string][]string{} // the names in each function
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || fn.Body == nil || fn.Recv != nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if id, is := n.(*ast.Ident); is {
					uses[fn.Name.Name] = append(uses[fn.Name.Name], id.Name)
				}
				return true
			})
		}
	}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if strings.HasPrefix(name, "Test") && plays(uses, name, map[string]bool{}) {
			found = append(found, name)
		}
	}
	var known []string
	for _, k := range tests {
		known = append(known, k.name)
	}
	if slices.Sort(known); !slices.Equal(found, known) {
		t.Errorf("played here: %v\nwhat plays: %v", known, found)
	}
}

// plays reports whether a function says how many cycles were played, by itself or through others.
func plays(uses map[string][]string, name string, seen map[string]bool) bool {
	if name == "played" {
		return true
	}
	if seen[name] {
		return false
	}
	seen[name] = true
	return slices.ContainsFunc(uses[name], func(used string) bool { return plays(uses, used, seen) })
}
