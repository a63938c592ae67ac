package architecture

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	// excerpt is the part of the output of examples/multi-role in README.md.
	excerpt = regexp.MustCompile("(?s)\nHere is a part of what it prints:\n\n```\n(.*?)```\n")
	// moment is in front of a line that tells what happens.
	moment = regexp.MustCompile(`^ *\d+\.\d{3}s  `)
	// filled is a place for a value in a text of a program.
	filled = regexp.MustCompile(`%[-+ #0-9.]*[a-z]|…`)
)

// TestExcerpt: examples/multi-role could print each line of the excerpt in README.md. The rows of
// a table are values, so only its head is compared.
func TestExcerpt(t *testing.T) {
	found := excerpt.FindStringSubmatch(read(t, "README.md"))
	if found == nil {
		t.Fatal("README.md has no excerpt")
	}
	formats, words := printed(t, "examples/multi-role")
	for part := range strings.SplitSeq(found[1], "\n\n") {
		lines := strings.Split(strings.TrimSpace(part), "\n")
		if head := strings.Fields(lines[0]); len(lines) > 1 && len(head) > 1 && strings.ToUpper(lines[0]) == lines[0] {
			if slices.ContainsFunc(head, func(word string) bool { return !words[word] }) {
				t.Errorf("the example has no table with the head %q", lines[0])
			}
			continue
		}
		for line := range strings.SplitSeq(strings.Trim(part, "\n"), "\n") {
			said := moment.ReplaceAllString(line, "")
			if !slices.ContainsFunc(formats, func(f *regexp.Regexp) bool { return f.MatchString(said) }) {
				t.Errorf("no text of the example makes the line %q", line)
			}
		}
	}
}

// played is a block of a document with all that an example has printed.
var played = regexp.MustCompile("(?s)\n```console\n\\$ go run \\./(examples/\\S+)[^\n]*\n(.*?)```\n")

// TestPlayed: an example could print each line of what a document says that it prints.
func TestPlayed(t *testing.T) {
	n := 0
	for _, path := range documents(t) {
		for _, block := range played.FindAllStringSubmatch(read(t, path), -1) {
			n++
			formats, _ := printed(t, block[1])
			for line := range strings.Lines(block[2]) {
				said := moment.ReplaceAllString(strings.TrimRight(line, "\n"), "")
				if said != "" && !slices.ContainsFunc(formats, func(f *regexp.Regexp) bool { return f.MatchString(said) }) {
					t.Errorf("%s: no text of %s makes the line %q", path, block[1], said)
				}
			}
		}
	}
	if n == 0 {
		t.Error("no document says what an example prints")
	}
}

// printed are the texts of the programs in and below a folder: those with a word as patterns, and
// each as it is.
func printed(t *testing.T, folder string) (formats []*regexp.Regexp, words map[string]bool) {
	t.Helper()
	words = map[string]bool{}
	for _, source := range sources(t) {
		if !strings.HasPrefix(filepath.ToSlash(source), folder+"/") || strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, read(t, source), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts(file) {
			words[text] = true
			text = strings.TrimRight(text, "\n")
			letters := 0
			for _, r := range filled.ReplaceAllString(text, "") {
				if unicode.IsLetter(r) {
					letters++
				}
			}
			if letters < 5 {
				continue
			}
			pattern := "^"
			for i, fixed := range filled.Split(text, -1) {
				if i > 0 {
					pattern += ".*"
				}
				pattern += regexp.QuoteMeta(strings.ReplaceAll(fixed, "%%", "%"))
			}
			formats = append(formats, regexp.MustCompile(pattern+"$"))
		}
	}
	return formats, words
}
