package main

import (
	"os"
	"testing"
	"testing/fstest"
)

// TestRulesAreMarked: a mark changes with what is played, and with nothing else.
func TestRulesAreMarked(t *testing.T) {
	files := fstest.MapFS{
		"core/a.go": {Data: []byte("package core")}, "core/b.go": {Data: []byte("package core // b")}, "core/a_test.go": {Data: []byte("package core")},
		"core/below/c.go": {Data: []byte("package below")}, "other/d.go": {Data: []byte("package other")},
	}
	mark := func() string {
		m, err := rulesOf(files, []string{"core"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	was := mark()
	for _, beside := range []string{"core/a_test.go", "core/below/c.go", "other/d.go"} {
		files[beside].Data = append(files[beside].Data, " // changed"...)
		if mark() != was {
			t.Errorf("%s is no rule, and changes the mark", beside)
		}
	}
	files["core/b.go"].Data = append(files["core/b.go"].Data, '!')
	if mark() == was {
		t.Error("another rule has the same mark")
	}
	if m, err := rulesOf(files, []string{"core", "elsewhere"}); err == nil {
		t.Errorf("%s of no files", m)
	}
}

// TestEveryKindHasRules: what is played is there.
func TestEveryKindHasRules(t *testing.T) {
	for _, k := range kinds {
		if m, err := rulesOf(os.DirFS("../.."), k.rules); err != nil || len(m) != 8 {
			t.Errorf("%s: %q, %v", k.name, m, err)
		}
	}
}
