package mutants

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOneText: an edit is of the one file that holds its text once. Otherwise the error names the
// files that hold it.
func TestOneText(t *testing.T) {
	const twice = "the text is not unique, lengthen it: it is in "
	root := module(t, map[string]string{
		"core/a.go":           "package core // rule one, rule two\n",
		"core/b.go":           "package core // rule two, half, half\n",
		"core/view/c.go":      "package view // rule three\n",
		"core/a_test.go":      "package core // rule one of the tests\n",
		"core/testdata/x.go":  "package x // rule one of the data\n",
		"core/_old/x.go":      "package x // rule one of old\n",
		"core/apart/go.mod":   "module apart\n",
		"core/apart/apart.go": "package apart // rule one of another module\n",
		"core/notes.md":       "rule one of the notes\n",
		"beside/d.go":         "package beside // rule one of a folder that is not named\n",
	})
	sources, err := below(root, []string{"core", "core/view", "gone"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		edits []Edit
		in    string
		err   string
	}{
		{"in one file", []Edit{{"rule one", "x"}}, "core/a.go", ""},
		{"in a folder below", []Edit{{"rule three", "x"}}, "core/view/c.go", ""},
		{"in two files", []Edit{{"rule two", "x"}}, "", twice + `core/a.go, core/b.go: "rule two"`},
		{"lengthened", []Edit{{"rule two, half", "x"}}, "core/b.go", ""},
		{"twice in one file", []Edit{{"half", "x"}}, "", twice + `core/b.go, core/b.go: "half"`},
		{"in no file", []Edit{{"rule four", "x"}}, "", `no file holds the text: "rule four"`},
		{"unchanged", []Edit{{"rule one", "rule one"}}, "", errUnchanged.Error()},
		{"by an edit before", []Edit{{"rule one", "rule four"}, {"rule four", "x"}}, "core/a.go", ""},
		{"gone by an edit before", []Edit{{"rule one", "x"}, {"rule one", "x"}}, "", `no file holds the text: "rule one"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed, err := Mutant{Name: c.name, Edits: c.edits}.changed(sources)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, %v; want %q", changed, err, c.err)
				}
				return
			}
			want := tree{c.in: strings.Replace(sources[c.in], c.edits[0][0], "x", 1)}
			if err != nil || !maps.Equal(changed, want) {
				t.Errorf("%v, %v; want %v", changed, err, want)
			}
		})
	}
	if found, err := below(root, []string{"gone", "lost"}, false); err == nil {
		t.Errorf("%v of no folder that is there", found)
	}
	if found, err := below(root, nil, false); err == nil {
		t.Errorf("%v of no folder", found)
	}
}

// TestMoves: the rule and its test move, each to another folder and file. The list, which names
// neither, still finds both; the mark of the mutant is the same; its death is on record, and of
// earlier sources.
func TestMoves(t *testing.T) {
	root := module(t, map[string]string{
		"core/rule.go": ruleText, "core/rule_test.go": ruleTest, "core/doc.go": "package example\n",
		"suite/doc.go": "package suite\n",
	})
	test := Test{Below: []string{"core"}, Run: "^TestRule$"}
	s := Suite{
		Below: test.Below, Record: filepath.Join(root, "mutants.csv"),
		Mutants: []Mutant{{"a", []Edit{{"n + 1", "n"}}, nil}}, By: test,
	}
	place := func(file, pkg string) place {
		t.Helper()
		t.Chdir(filepath.Join(root, "suite"))
		p, err := s.place()
		if err != nil {
			t.Fatal(err)
		}
		if changed, err := s.Mutants[0].changed(p.sources); err != nil || changed[file] == "" {
			t.Errorf("%v, %v; want %s", changed, err, file)
		}
		if packages, err := test.packages(p); err != nil || !slices.Equal(packages, []string{pkg}) {
			t.Errorf("%v, %v; want %s", packages, err, pkg)
		}
		return p
	}
	place("core/rule.go", "core")
	world, err := worldOf(root, "core")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.note(death{"a", "", "x", test.mark(s.Mutants[0]), "core", world}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "core/inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, move := range []struct {
		from, to   string // empty: nothing moves
		file, pkg  string
		sourcesNew bool
	}{
		{"", "", "core/rule.go", "core", false},
		{"core/rule.go", "core/inner/renamed.go", "core/inner/renamed.go", "core", true},
		{"core/rule_test.go", "core/inner/other_test.go", "core/inner/renamed.go", "core/inner", true},
		{"core/doc.go", "core/inner/doc.go", "core/inner/renamed.go", "core/inner", true}, // the package on record is gone
	} {
		if move.from != "" {
			if err := os.Rename(filepath.Join(root, move.from), filepath.Join(root, move.to)); err != nil {
				t.Fatal(err)
			}
		}
		p := place(move.file, move.pkg)
		died, err := s.deaths()
		if err != nil {
			t.Fatal(err)
		}
		for which, want := range map[string]bool{"changed": true, "old": !move.sourcesNew} {
			if done, err := (suiteRun{s, p, nil}).done(which, s.Mutants[0], died["a"]); err != nil || done != want {
				t.Errorf("%s has moved: MUTANTS=%s leaves it out: %v, %v", move.from, which, done, err)
			}
		}
		if age, err := AgeOf(root, s.Record); err != nil || (len(age.Older) > 0) != move.sourcesNew {
			t.Errorf("%s has moved: %v, %v", move.from, age, err)
		}
		t.Run("fits", func(t *testing.T) { s.Fit(t) })
	}
}

// TestMark: a mark changes with each text, and with the name and the arguments of the test. It does
// not change with a folder.
func TestMark(t *testing.T) {
	m, k := Mutant{Name: "a", Edits: []Edit{{"n + 1", "n"}}}, Test{
		Below: []string{"core"}, Run: "^TestRule$",
		Args: []string{"-x"},
	}
	mark := k.mark(m)
	if k.Below = []string{"elsewhere"}; k.mark(m) != mark {
		t.Error("another folder changes the mark")
	}
	for name, other := range map[string]string{
		"before": k.mark(Mutant{Edits: []Edit{{"n +  1", "n"}}}),
		"after":  k.mark(Mutant{Edits: []Edit{{"n + 1", "m"}}}),
		"edits":  k.mark(Mutant{Edits: []Edit{m.Edits[0], {"x", "y"}}}),
		"run":    Test{Run: "^TestRules$", Args: k.Args}.mark(m),
		"args":   Test{Run: k.Run, Args: []string{"-y"}}.mark(m),
	} {
		if other == mark {
			t.Errorf("another text of %s has the same mark", name)
		}
	}
}

// TestPackages: a test is of the one package that holds its functions, and "." is the tests of all
// packages below.
func TestPackages(t *testing.T) {
	root := module(t, map[string]string{
		"core/rule_test.go":      ruleTest,
		"core/view/view_test.go": "package view\n\nfunc TestRule(t *testing.T) {}\n\nfunc TestView(t *testing.T) {}\n",
		"own/own_test.go":        "package own\n\nfunc TestOwn(t *testing.T) {}\n",
	})
	p := place{root: root, own: "own"}
	for _, c := range []struct {
		test Test
		want []string
		err  string
	}{
		{Test{Below: []string{"core"}, Run: "^TestView$"}, []string{"core/view"}, ""},
		{Test{Below: []string{"core"}, Run: "."}, []string{"core", "core/view"}, ""},
		{Test{Run: "^TestOwn$"}, []string{"own"}, ""},
		{Test{Below: []string{"core"}, Run: "^TestRule$"}, nil, "has to be in one package, and is in core, core/view"},
		{Test{Run: "^TestView$"}, nil, "no test function ^TestView$ below own"},
		{Test{Below: []string{"gone"}, Run: "."}, nil, "is there"},
	} {
		got, err := c.test.packages(p)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s below %q: %v, %v; want %v, %q", c.test.Run, c.test.Below, got, err, c.want, c.err)
		}
	}
}
