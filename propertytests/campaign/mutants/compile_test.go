package mutants

import (
	"os"
	"strings"
	"testing"
)

// TestCompiler: a change that does not compile is noticed, in whichever file of a package it is,
// and one that compiles is not.
func TestCompiler(t *testing.T) {
	own, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root, err := moduleRoot(own)
	if err != nil {
		t.Fatal(err)
	}
	const folder = "propertytests/campaign/mutants"
	c, err := newCompiler(root, []string{folder})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("mutant.go")
	if err != nil {
		t.Fatal(err)
	}
	for after, says := range map[string]string{
		"now, changed := maps.Clone(sources), tree{}":            "",
		"now, changed := maps.Copy(sources), tree{}":             "not enough arguments",
		"now, changed := maps.Clone(sources), treeThatWas{}":     "undefined: treeThatWas",
		"now, changed := maps.Clone(sources), tree{}; lost := 1": "declared and not used: lost",
		"now, changed := maps.Clone(sources), tree{":             "expected",
	} {
		changed := strings.Replace(string(text), "now, changed := maps.Clone(sources), tree{}", after, 1)
		err := c.check(tree{folder + "/mutant.go": changed})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", after, err)
		}
	}
	// Other files miss what they use, within functions too.
	text, err = os.ReadFile("tree.go")
	if err != nil {
		t.Fatal(err)
	}
	for before, after := range map[string]string{
		"type tree map[string]string":         "type tree map[string]int",
		") holding(text string) (string, err": ") holding(text string) (_ string, _ bool, _ err",
		"func below(root string, folders ":    "func under(root string, folders ",
	} {
		changed := strings.Replace(string(text), before, after, 1)
		if err := c.check(tree{folder + "/tree.go": changed}); err == nil || changed == string(text) {
			t.Errorf("%s compiles", after)
		}
	}
	if err := c.check(tree{"nowhere/x.go": ""}); err == nil {
		t.Error("a file of no package compiles")
	}
}
