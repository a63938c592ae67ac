package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// mostCopied is how many lines a function of tests may have that another package has too. Examples
// share nothing that is not public, and so have short copies.
const mostCopied = 20

// TestNoCopies: no two packages have the same long function in their tests: what both need is in
// internal/natstest, or in the tree of the property tests.
func TestNoCopies(t *testing.T) {
	first := map[string]string{}
	for _, source := range sources(t) {
		source = filepath.ToSlash(source)
		if !strings.HasSuffix(source, "_test.go") && !strings.HasPrefix(source, "propertytests/") {
			continue
		}
		for _, function := range longFunctions(t, source, read(t, source)) {
			other, found := first[function]
			if found && path.Dir(other) != path.Dir(source) {
				head, _, _ := strings.Cut(function, "\n")
				t.Errorf("%s and %s both have %s …: give it one place", other, source, head)
			}
			first[function] = source
		}
	}
}

// longFunctions are the texts of the functions of a file that have more lines than may be copied.
func longFunctions(t *testing.T, file, text string) (all []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, to := files.Position(f.Type.Pos()), files.Position(f.End())
		if to.Line-from.Line >= mostCopied {
			all = append(all, text[from.Offset:to.Offset])
		}
	}
	return all
}

func TestLongFunctions(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\tx++\n", n) }
	long := "func b() {\n" + lines(mostCopied-1) + "}"
	text := "package p\n\nfunc a() {\n" + lines(mostCopied-2) + "}\n\n// b is long.\n" + long + "\n"
	if got := longFunctions(t, "p.go", text); len(got) != 1 || got[0] != long {
		t.Errorf("%q, want %q", got, long)
	}
}
