package architecture

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// The bounds of a line, in characters.
const (
	commentColumns = 100
	lineColumns    = 120
)

// A message for people keeps no chain of package names, and has its plurals right. A docstring
// gives a default and its bounds in a sentence.
var (
	anyPackage   = `(?:` + strings.Join(wording.Packages, "|") + `): `
	ownPrefix    = regexp.MustCompile(`^` + anyPackage)
	prefixChain  = regexp.MustCompile(`\b` + anyPackage + anyPackage)
	eitherNumber = regexp.MustCompile(`(?:^| )[a-z]+\(s\)`)
	anyCount     = regexp.MustCompile(`%d (?:attempt|candidate|instance|leader|member|namespace|role|server|session|task|tick|worker)s\b`)
	drawing      = regexp.MustCompile("[\u2500-\u257f\u25b2\u25b6\u25ba\u25bc\u25c0\u25c4]")
	shortDefault = regexp.MustCompile(`\((?:default )?\d+ ?(?:ns|µs|ms|s|min|h|d|%|[KMG]iB)?[;,] (?:from|minimum|maximum|up to|at least|at most) `)
)

// TestPlainGo: the sources follow the rules of plain English too, in their comments and in their
// texts, and their lines are short.
func TestPlainGo(t *testing.T) {
	files := sources(t)
	if len(files) == 0 {
		t.Fatal("no source was found")
	}
	for _, path := range files {
		for _, fault := range plainGo(t, path, read(t, path)) {
			t.Error(fault)
		}
	}
}

// plainGo are the faults of a source, each with its place.
func plainGo(t *testing.T, path, text string) (faults []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(at token.Pos, sentence, fault string) {
		faults = append(faults, files.Position(at).String()+": "+sentence+": "+fault)
	}
	for _, group := range parsed.Comments {
		if drawn := drawing.FindString(group.Text()); drawn != "" {
			add(group.Pos(), drawn, "is a drawing: say it in sentences, or in a list")
		}
		for _, p := range paragraphs(group.Text()) {
			for _, s := range sentences(p) {
				for _, fault := range stumbles(s) {
					add(group.Pos(), s, fault)
				}
				if found := shortDefault.FindString(s); found != "" {
					add(group.Pos(), s, `say "Default 10 s, minimum 300 ms."`)
				}
			}
		}
	}
	program := !strings.HasSuffix(path, "_test.go") &&
		(strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "examples/"))
	for at, said := range texts(parsed) {
		for line := range strings.Lines(said) {
			for _, s := range sentences(line) {
				for _, fault := range stumbles(s) {
					add(at, s, fault)
				}
			}
		}
		if !strings.HasSuffix(said, "?") && (headless.MatchString(said) ||
			headlessThings.MatchString(said) && !strings.HasSuffix(path, "_test.go")) {
			add(at, said, "begins with a clause in the place of a noun")
		}
		switch {
		case prefixChain.MatchString(said):
			add(at, said, "has the names of two packages in front")
		case eitherNumber.MatchString(said):
			add(at, said, "one or many: say which")
		case program && ownPrefix.MatchString(said):
			add(at, said, "has the name of a package in front")
		case program && anyCount.MatchString(said):
			add(at, said, `is wrong for 1: use show.Count, or say "attempts: %d"`)
		}
	}
	return append(faults, longLines(files, parsed, path, text)...)
}

// paragraphs are those of a comment and of its lists. Headings and code are left out.
func paragraphs(text string) (all []string) {
	var collect func([]comment.Block)
	collect = func(blocks []comment.Block) {
		for _, b := range blocks {
			switch b := b.(type) {
			case *comment.Paragraph:
				var p comment.Printer
				all = append(all, string(p.Text(&comment.Doc{Content: []comment.Block{b}})))
			case *comment.List:
				for _, item := range b.Items {
					collect(item.Content)
				}
			}
		}
	}
	collect(new(comment.Parser).Parse(text).Content)
	return all
}

// texts are the string literals of a file. Literals that are added to each other are one text, and
// a value between them is an ellipsis in it.
func texts(file *ast.File) map[token.Pos]string {
	all := map[token.Pos]string{}
	var join func(ast.Expr) (string, bool)
	join = func(e ast.Expr) (string, bool) {
		switch e := e.(type) {
		case *ast.BasicLit:
			if said, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
				return said, true
			}
		case *ast.BinaryExpr:
			left, literal := join(e.X)
			right, other := join(e.Y)
			return left + right, e.Op == token.ADD && (literal || other)
		}
		return "…", false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		said, ok := join(e)
		if ok {
			all[e.Pos()] = said
		}
		return !ok
	})
	return all
}

// longLines are the comments and the lines of code that are too long. An indented part of a
// comment, such as a drawing, counts as code. A raw string is data, and does not count.
func longLines(files *token.FileSet, file *ast.File, path, text string) (faults []string) {
	code, alone := []byte(text), map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(l.Value, "`") {
			for i := files.Position(l.Pos()).Offset; i < files.Position(l.End()).Offset; i++ {
				if code[i] != '\n' {
					code[i] = 0
				}
			}
		}
		return true
	})
	for _, group := range file.Comments {
		for _, c := range group.List {
			alone[files.Position(c.Pos()).Line] = strings.HasPrefix(c.Text, "//")
		}
	}
	number := 0
	for line := range bytes.Lines(code) {
		number++
		line = bytes.ReplaceAll(bytes.TrimRight(line, "\n"), []byte{0}, nil)
		most := lineColumns
		if said, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("//")); ok && alone[number] &&
			!bytes.HasPrefix(said, []byte("\t")) {
			most = commentColumns
		}
		if columns := utf8.RuneCount(line); columns > most {
			faults = append(faults, fmt.Sprintf("%s:%d: %d columns, more than %d", path, number, columns, most))
		}
	}
	return faults
}

// sources are the Go files of the repository, those of nested modules and of every build tag
// included.
func sources(t *testing.T) []string {
	t.Helper()
	return files(t, ".go")
}

// files are the files of the repository with one of the endings, but for those in hidden folders.
func files(t *testing.T, endings ...string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root:
			return filepath.SkipDir
		case slices.Contains(endings, filepath.Ext(path)):
			path, err = filepath.Rel(root, path)
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestPlainGoFinds(t *testing.T) {
	const source = "package p\n\n// Wh" + "at leads is told (10 s; from 300 ms).\n//\n" +
		"//\tWhat is code.\nvar a = \"%d task\" + \"(s)\"\n\n" +
		"// Names are joined, and so are their values.\nvar b = \"roles: \" + \"election: \" + c + \" was mend\" + \"ed\"\n" +
		"var n, w, m = \"who\", \"w" + "ho leads now: %v\", \"what" + " was read\"\n"
	long := "// " + strings.Repeat("x", commentColumns) + "\nvar d = `" + strings.Repeat("y", lineColumns) + "`\nvar e" +
		strings.Repeat("e", lineColumns) + " int\n"
	faults := plainGo(t, "p.go", source+long)
	if len(faults) != 9 {
		t.Errorf("%d faults:\n%s", len(faults), strings.Join(faults, "\n"))
	}
}
