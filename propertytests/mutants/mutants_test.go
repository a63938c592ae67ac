package mutants

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestKill: of a module with one rule and one test of it, a mutant dies, one survives, one waits until the time is up, one does
// not compile, and one replaces what is not there.
func TestKill(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example\n\ngo 1.26\n",
		"rule.go":      "package example\n\nfunc rule(n int) int { return n + 1 }\n",
		"rule_test.go": "package example\n\nimport \"testing\"\n\nfunc TestRule(t *testing.T) {\n\tif n := rule(1); n != 2 {\n\t\tt.Fatalf(\"failed after 1 schedules: 1 and 1\\n\\tis   %d\", n)\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	test := Test{
		Package: ".", Run: "TestRule$", Args: []string{"-test.timeout", "2s"},
		Says: regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>(?s:.*)3)`),
	}
	for _, c := range []struct{ name, after, want string }{
		{"dies", "n + 2", ""},
		{"survives", "1 + n", errSurvived.Error()},
		{"waits", "func() int { select {} }()", errSurvived.Error()},
		{"does not compile", "n +", "it does not compile"},
		{"dies of something else", "n + 3", "died for no reason that can be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := test.kill(t, root, Mutant{Name: c.name, Edits: []Edit{{"rule.go", "n + 1", c.after}}})
			switch {
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%+v, %v; want %q", d, err, c.want)
			case c.want == "" && (err != nil || d.Within != "1 schedules" || d.What != "1 and 1 is 3"):
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	if err := test.passes(t, root); err != nil {
		t.Error(err)
	}
	if _, err := test.kill(t, root, Mutant{Name: "nothing", Edits: []Edit{{"rule.go", "n + 1", "n + 1"}}}); err == nil || errors.Is(err, errSurvived) {
		t.Errorf("of one that changes nothing: %v", err)
	}
	if _, err := test.kill(t, root, Mutant{Name: "gone", Edits: []Edit{{"rule.go", "n - 1", "n"}}}); err == nil || errors.Is(err, errSurvived) {
		t.Errorf("of a text that is not there: %v", err)
	}
}

// TestRecord: deaths stand in the order of the list, the last of each; those of mutants that are no more are forgotten.
func TestRecord(t *testing.T) {
	s := Suite{Record: filepath.Join(t.TempDir(), "mutants.csv"), Mutants: []Mutant{{Name: "a"}, {Name: "b"}}}
	for _, d := range []death{{"b", "7 schedules", "two, leaders", "1"}, {"gone", "1", "x", "0"}, {"a", "3", "x", "2"}, {"a", "2", "y", "3"}} {
		if err := s.note(d); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(s.Record)
	if err != nil {
		t.Fatal(err)
	}
	if want := "mutant,within,what,of\na,2,y,3\nb,7 schedules,\"two, leaders\",1\n"; string(b) != want {
		t.Errorf("on record: %q, want %q", b, want)
	}
}
