package architecture

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

// backUp is how many arrows may run back up in a package.
var backUp = map[string]int{"assign": 5, "cmd/rolectl": 0, "internal/protocol": 7, "internal/protocol/tasks": 56}

// TestArrows: the files of a package stand one above the other. An arrow goes from a file to one
// that declares a name that it uses, and nearly all of them run down: there is a way to read the
// package from the ground up. Between packages the compiler sees to that.
func TestArrows(t *testing.T) {
	for name, most := range backUp {
		if up := upward(arrows(t, filepath.Join("../..", name))); len(up) > most {
			t.Errorf("%s: %d arrows run back up, at most %d are allowed: %v", name, len(up), most, up)
		}
	}
}

// TestArrowsFinds: a loop has one arrow that runs back up, wherever one begins to read.
func TestArrowsFinds(t *testing.T) {
	got := upward(map[string][]string{"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": {"c"}, "e": {"a"}})
	if len(got) != 1 || got[0] != "c -> a" {
		t.Errorf("%v run back up", got)
	}
}

// arrows are those between the files of a package, tests left out.
func arrows(t *testing.T, folder string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files, declared := map[string]*ast.File{}, map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		files[name] = f
		for _, d := range f.Decls {
			for _, of := range topLevel(d) {
				declared[of] = name
			}
		}
	}
	all := map[string][]string{}
	for name, f := range files {
		seen := map[string]bool{}
		for _, d := range f.Decls {
			uses(d, func(used string) {
				if at := declared[used]; at != "" && at != name {
					seen[at] = true
				}
			})
		}
		all[name] = slices.Sorted(maps.Keys(seen))
	}
	return all
}

// topLevel are the names that a declaration gives to its package.
func topLevel(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// uses calls f with the names in a part of a file, but for those of fields, methods and parameters.
func uses(part ast.Node, f func(string)) {
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			f(n.Name)
		case *ast.SelectorExpr:
			uses(n.X, f)
			return false
		case *ast.Field:
			uses(n.Type, f)
			return false
		case *ast.KeyValueExpr:
			if _, field := n.Key.(*ast.Ident); field {
				uses(n.Value, f)
				return false
			}
		}
		return true
	})
}

// upward are arrows without which no file would be in a loop. A file that uses none of those left
// goes to the ground, and one that none of them uses to the top. Where there is neither, the file
// goes to the top that uses the most beyond those that use it.
func upward(of map[string][]string) (up []string) {
	left := slices.Sorted(maps.Keys(of))
	var top, ground []string
	take := func(name string) {
		left = slices.DeleteFunc(left, func(x string) bool { return x == name })
	}
	for len(left) > 0 {
		best, most := "", 0
		for _, name := range left {
			in, out := 0, 0
			for _, x := range left {
				if slices.Contains(of[x], name) {
					in++
				}
				if slices.Contains(of[name], x) {
					out++
				}
			}
			if out == 0 {
				best, ground = "", append(ground, name)
				take(name)
				break
			}
			if d := out - in; in == 0 || best == "" || d > most {
				best, most = name, d
				if in == 0 {
					break
				}
			}
		}
		if best != "" {
			top = append(top, best)
			take(best)
		}
	}
	slices.Reverse(ground)
	order := append(top, ground...)
	for i, name := range order {
		for _, x := range of[name] {
			if slices.Index(order, x) < i {
				up = append(up, name+" -> "+x)
			}
		}
	}
	return up
}
