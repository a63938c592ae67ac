package cycles

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryTestThatPlaysIsKnown: those that say how many cycles they have played are those that are
// played here.
func TestEveryTestThatPlaysIsKnown(t *testing.T) {
	paths, err := filepath.Glob("../../live/*_test.go")
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

// TestDrawn: a seed draws one half of the tests or the other, and always the same. Without a seed
// all are played.
func TestDrawn(t *testing.T) {
	if got := drawn(tests, ""); !slices.Equal(got, tests) {
		t.Errorf("without a seed: %v", got)
	}
	halves := map[string]int{}
	for seed := range 40 {
		got := drawn(tests, strconv.Itoa(seed))
		if again := drawn(tests, strconv.Itoa(seed)); !slices.Equal(got, again) || len(got)/2 != len(tests)/4 {
			t.Errorf("seed %d draws %v, and then %v", seed, got, again)
		}
		halves[fmt.Sprint(got)]++
	}
	played := 0
	for half := range halves {
		played += strings.Count(half, "Test")
	}
	if len(halves) != 2 || played != len(tests) {
		t.Errorf("%d tests in %d halves", played, len(halves))
	}
}

// TestNoTestOfTheTagIsLeftOut: what the tag realtime adds beside those that are played here, the
// Makefile names.
func TestNoTestOfTheTagIsLeftOut(t *testing.T) {
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("../../live/*_realtime_test.go")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			name := string(m[1])
			known := slices.ContainsFunc(tests, func(k test) bool { return k.name == name })
			if !known && name != "TestMain" && !bytes.Contains(makefile, []byte(strings.TrimPrefix(name, "Test"))) {
				t.Errorf("%s is played neither here nor by make realtime", name)
			}
		}
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
