package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clockCalls are the functions of package time that do more than arithmetic.
var clockCalls = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// TestPureCore: the packages that hold the rules have no clock, no goroutine and no channel, so
// that a schedule of events decides everything that they do.
func TestPureCore(t *testing.T) {
	for _, dir := range pure {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if what := impurity(n); what != "" {
					t.Errorf("%s: %s in a pure package", set.Position(n.Pos()), what)
				}
				return true
			})
		}
	}
}

func impurity(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.ChanType:
		return "a channel"
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clockCalls, n.Sel.Name) {
			return "time." + n.Sel.Name
		}
	}
	return ""
}
