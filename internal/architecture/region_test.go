package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// region is the part of a file that a document quotes. "" means the whole file, without the marks
// of its parts. Otherwise part names the lines between "docs:begin NAME" and "docs:end", which are
// comments of their own, or, in Go, declarations with their comments, separated by commas:
// "lead,app.start".
func region(file, text, part string) (string, error) {
	if part == "" {
		return strings.Trim(unmarked(text), "\n"), nil
	}
	if found, ok := between(text, part); ok {
		return found, nil
	}
	if filepath.Ext(file) != ".go" {
		return "", fmt.Errorf("%s has no part %s", file, part)
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	var found []string
	for _, name := range strings.Split(part, ",") {
		from, to := declaration(parsed, name)
		if !from.IsValid() {
			return "", fmt.Errorf("%s has no part %s", file, name)
		}
		found = append(found, text[files.Position(from).Offset:files.Position(to).Offset])
	}
	return strings.Join(found, "\n\n"), nil
}

var mark = regexp.MustCompile(`^\s*(?://|#|--) docs:(?:begin (\S+)|end)$`)

// unmarked is a text without the lines that mark its parts.
func unmarked(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !mark.MatchString(strings.TrimSuffix(line, "\n")) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// between returns the lines between the marks of a part, without their common indentation.
func between(text, part string) (string, bool) {
	var found []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		m := mark.FindStringSubmatch(line)
		switch {
		case m == nil && inside:
			found = append(found, line)
		case m != nil && inside && m[1] == "":
			return dedent(found), true
		case m != nil && m[1] == part:
			inside = true
		}
	}
	return "", false
}

func dedent(lines []string) string {
	first := strings.TrimLeft(lines[0], "\t ")
	indent := lines[0][:len(lines[0])-len(first)]
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], indent)
	}
	return strings.Join(lines, "\n")
}

// declaration finds a function, a method ("type.method"), a type, a variable or a constant.
func declaration(file *ast.File, name string) (from, to token.Pos) {
	for _, d := range file.Decls {
		var doc *ast.CommentGroup
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver(d)+d.Name.Name != name {
				continue
			}
			doc = d.Doc
		case *ast.GenDecl:
			if !slices.Contains(topLevel(d), name) {
				continue
			}
			doc = d.Doc
		}
		if doc != nil {
			return doc.Pos(), d.End()
		}
		return d.Pos(), d.End()
	}
	return token.NoPos, token.NoPos
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

func TestRegion(t *testing.T) {
	const source = `package p

// a says a.
func a() {
	// docs:begin inner
	if true {
		b()
	}
	// docs:end
}

func (x *T) b() {}

// C is C.
const C = 1
`
	whole := strings.NewReplacer("\t// docs:begin inner\n", "", "\t// docs:end\n", "").Replace(source)
	for part, want := range map[string]string{
		"":      strings.Trim(whole, "\n"),
		"inner": "if true {\n\tb()\n}",
		"T.b,C": "func (x *T) b() {}\n\n// C is C.\nconst C = 1",
		"b":     "",
	} {
		got, err := region("p.go", source, part)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", part, got, err, want)
		}
	}
}
