package mutants

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// module writes the files of a module into a folder of its own.
func module(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	write(t, root, "go.mod", "module example\n\ngo 1.26\n")
	for name, text := range files {
		write(t, root, name, text)
	}
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	ruleText = "package example\n\nfunc rule(n int) int { return n + 1 }\n"
	ruleTest = "package example\n\nimport \"testing\"\n\nfunc TestRule(t *testing.T) {\n\tif n := rule(1); n != 2 {\n" +
		"\t\tt.Fatalf(\"failed after 1 schedules: 1 and 1\\n\\tis   %d\", n)\n\t}\n}\n"
)

// TestKill: of a module with one rule and one test of it, a mutant dies, one waits until the time
// is up, one does not compile, and one replaces what is not there. TestRun has one that survives.
func TestKill(t *testing.T) {
	thorough.Only(t, "it compiles and runs a module for each bug")
	root := module(t, map[string]string{"rule.go": ruleText, "rule_test.go": ruleTest})
	sources, err := below(root, []string{"."}, false)
	if err != nil {
		t.Fatal(err)
	}
	p := place{root: root, own: ".", sources: sources}
	test := Test{
		Run: "TestRule$", Args: []string{"-test.timeout", "2s"},
		Says: regexp.MustCompile(`failed after (?P<within>\d+ schedules): (?P<what>(?s:.*)3)`),
	}
	for _, c := range []struct{ name, after, want string }{
		{"dies", "n + 2", ""},
		{"waits", "func() int { select {} }()", errSurvived.Error()},
		{"does not compile", "n +", "it does not compile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := test.kill(t.Context(), p, Mutant{Name: c.name, Edits: []Edit{{"n + 1", c.after}}})
			switch {
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%+v, %v; want %q", d, err, c.want)
			case c.want == "" && (err != nil || d.Within != "1 schedules" || d.What != "1 and 1 is 3" || d.In != "." ||
				len(d.World) != 8):
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	if d, err := test.read(Mutant{}, "failed after 1 schedules: 1 and 1 is 4"); err == nil ||
		!strings.Contains(err.Error(), "died for no reason that can be read") {
		t.Errorf("of something else: %+v, %v", d, err)
	}
	if _, err := test.kill(t.Context(), p, Mutant{Name: "nothing", Edits: []Edit{{"n + 1", "n + 1"}}}); err == nil ||
		errors.Is(err, errSurvived) {
		t.Errorf("of one that changes nothing: %v", err)
	}
	if _, err := test.kill(t.Context(), p, Mutant{Name: "gone", Edits: []Edit{{"n - 1", "n"}}}); err == nil ||
		errors.Is(err, errSurvived) {
		t.Errorf("of a text that is not there: %v", err)
	}
}

// TestRecord: the record has the last death of each mutant, in the order of the list, and none of a
// mutant that the list lacks.
func TestRecord(t *testing.T) {
	s := Suite{Record: filepath.Join(t.TempDir(), "mutants.csv"), Mutants: []Mutant{{Name: "a"}, {Name: "b"}}}
	for _, d := range []death{
		{"b", "7 schedules", "two, leaders", "1", ".", "w"},
		{"gone", "1", "x", "0", ".", "w"},
		{"a", "3", "x", "2", ".", ""},
		{"a", "2", "y", "3", "p", "v"},
	} {
		if err := s.note(d); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(s.Record)
	if err != nil {
		t.Fatal(err)
	}
	if want := "mutant,within,what,of,in,world\na,2,y,3,p,v\nb,7 schedules,\"two, leaders\",1,.,w\n"; string(b) != want {
		t.Errorf("on record: %q, want %q", b, want)
	}
}

// TestAge: a death is of the sources as they are until the rule, the test or what these import
// changes, and a change of something else, or of the list of mutants, does not make it older. One
// that does not say of which sources it is counts as older.
func TestAge(t *testing.T) {
	root := module(t, map[string]string{
		"rule/rule.go":        "package rule\n",
		"world/world_test.go": "package world\n\nimport _ \"example/rule\"\n",
	})
	s := Suite{Record: filepath.Join(root, "mutants.csv"), Mutants: []Mutant{{Name: "a"}, {Name: "b"}}, By: Test{Run: "."}}
	for _, change := range []struct {
		name, text string
		older      bool
	}{
		{"rule/rule.go", "package rule // changed\n", true},
		{"rule/rule_test.go", "package rule\n", false},
		{"world/mutants_list_test.go", "package world\n", false},
		{"world/checks_test.go", "package world\n", true},
		{"beside/beside.go", "package beside\n", false},
		{"go.mod", "module example\n\ngo 1.27\n", true},
	} {
		world, err := worldOf(root, "world")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []death{
			{"a", "", "x", s.By.mark(s.Mutants[0]), "world", world},
			{"b", "", "x", s.By.mark(s.Mutants[1]), "", ""},
		} {
			if err := s.note(d); err != nil {
				t.Fatal(err)
			}
		}
		if age, err := AgeOf(root, s.Record); err != nil ||
			age.String() != "1 of 2 deaths are of the sources as they are; of earlier ones: b" {
			t.Fatalf("%v, %v", age, err)
		}
		write(t, root, change.name, change.text)
		age, err := AgeOf(root, s.Record)
		if err != nil || age.Rows != 2 || slices.Contains(age.Older, "a") != change.older {
			t.Errorf("%s has changed: %v, %v", change.name, age, err)
		}
		died, err := s.deaths()
		if err != nil {
			t.Fatal(err)
		}
		r := suiteRun{s, place{root: root}, nil}
		for i, want := range []bool{!change.older, false} {
			m := s.Mutants[i]
			for which, want := range map[string]bool{"old": want, "changed": true, "1": false} {
				if done, err := r.done(which, m, died[m.Name]); err != nil || done != want {
					t.Errorf("%s has changed: MUTANTS=%s leaves out %s: %v, %v", change.name, which, m.Name, done, err)
				}
			}
		}
	}
}
