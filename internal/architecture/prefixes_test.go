package architecture

import (
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// TestErrorPrefixes: wording.Plain knows every package whose name is in front of its errors. A
// command says its own name, as in "rolectl: ".
func TestErrorPrefixes(t *testing.T) {
	var found []string
	for _, source := range sources(t) {
		folder := path.Dir(filepath.ToSlash(source))
		if !strings.HasSuffix(source, "_test.go") && !apart(folder) {
			found = append(found, errorPrefixes(t, folder, read(t, source))...)
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, wording.Packages) {
		t.Errorf("errors begin with %q: say so in wording.Packages, which has %q", found, wording.Packages)
	}
}

// apart reports whether a folder has programs, or errors that only tests and measurements see.
func apart(folder string) bool {
	top, _, _ := strings.Cut(folder, "/")
	return slices.Contains([]string{"assigntest", "bench", "cmd", "electiontest", "examples", "propertytests"}, top) ||
		strings.HasPrefix(folder, "internal/natstest") || strings.HasSuffix(folder, "/apiserver")
}

var wordInFront = regexp.MustCompile(`(?:^|: )([a-z][a-z0-9]*): `)

// errorPrefixes are the packages whose names are in front of texts of a source: its own package, or
// one above it.
func errorPrefixes(t *testing.T, folder, text string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), folder, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	above := strings.Split(folder, "/")
	for _, said := range texts(parsed) {
		for _, match := range wordInFront.FindAllStringSubmatch(said, -1) {
			if name := match[1]; name == parsed.Name.Name || slices.Contains(above, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func TestErrorPrefixesFinds(t *testing.T) {
	const source = "package p\n\nvar a = \"p: too late\"\nvar b = \"internal: x\" + \"q: y\"\n" +
		"var c = errors.New(\"assign: none: p: %w\")\n"
	found := map[string]bool{}
	for _, name := range errorPrefixes(t, "assign/internal/p", source) {
		found[name] = true
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"assign", "internal", "p"}) {
		t.Error(got)
	}
}
