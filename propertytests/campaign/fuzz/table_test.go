package fuzz

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// TestTheDocumentQuotesTheSums: what docs/verification/runs.md says about the file is what the file
// comes to.
func TestTheDocumentQuotesTheSums(t *testing.T) {
	runlog.Quoted(t, "../../..", "go run ./propertytests/campaign fuzz -sum",
		func(w io.Writer) error { return tell(w, "../fuzz.csv") })
}

// TestTheFileGoesOn: what was played of the sources as they are is summed up by target, and the
// target that has the least is the next, until all have enough.
func TestTheFileGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fuzz.csv")
	a, b := target{pkg{ImportPath: "x/p"}, "FuzzA"}, target{pkg{ImportPath: "x/p"}, "FuzzB"}
	marks := map[string]string{a.String(): "1234abcd", b.String(): "1234abcd"}
	for _, l := range []fuzzPart{
		{a.String(), 10, 2, 0, "1234abcd"},
		{a.String(), 5, 1, 1, "1234abcd"},
		{a.String(), 100, 0, 0, ""},
		{b.String(), 100, 0, 0, "5678abcd"},
	} {
		if err := table(path).Add(l); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := table(path).Read()
	played := sums(present(lines, marks))
	if want := (fuzzPart{"p.FuzzA", 15, 3, 1, ""}); err != nil || len(played) != 1 || played["p.FuzzA"] != want {
		t.Fatalf("%v, %v, want %v", played, err, want)
	}
	c := &course{path: path, execs: 20, marks: marks, sums: played, busy: map[string]bool{}}
	if next, is := c.next([]target{a, b}); !is || next.name != b.name {
		t.Errorf("%v, %v is next, want the one that has nothing", next, is)
	}
	if next, is := c.next([]target{a, b}); !is || next.name != a.name {
		t.Errorf("%v, %v is next beside the other one", next, is)
	}
	if next, is := c.next([]target{a, b}); is {
		t.Errorf("%v is played twice at a time", next)
	}
	if err := c.played(t.Context(), a, outcome{executions: 5}); err != nil {
		t.Fatal(err)
	}
	if next, is := c.next([]target{a, b}); is {
		t.Errorf("%v is next, and has enough", next)
	}
	lines, err = table(path).Read()
	if want := (fuzzPart{a.String(), 5, 0, 0, "1234abcd"}); err != nil || lines[len(lines)-1] != want {
		t.Errorf("%v, %v, and %v was played", lines, err, want)
	}
}
