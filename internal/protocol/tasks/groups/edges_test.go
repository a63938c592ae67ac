package groups

import (
	"slices"
	"testing"
)

func edgesOf(waits map[string]*After) *Edges {
	e := NewEdges()
	for _, id := range []string{"a", "b", "c", "d"} {
		if w := waits[id]; w != nil {
			e.Later(id)
			e.Add(id, w)
		}
	}
	return e
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		after *After
		ends  map[string]End
		want  Verdict
	}{
		"nothing is known":  {&After{IDs: []string{"x", "y"}}, nil, Wait},
		"one has succeeded": {&After{IDs: []string{"x", "y"}}, map[string]End{"x": Succeeded}, Wait},
		"all have succeeded": {
			&After{IDs: []string{"x", "y"}},
			map[string]End{"x": Succeeded, "y": Succeeded},
			Run,
		},
		"one has failed":           {&After{IDs: []string{"x", "y"}}, map[string]End{"y": Otherwise}, Skip},
		"a failure is an end":      {&After{IDs: []string{"x"}, Ended: true}, map[string]End{"x": Otherwise}, Run},
		"a missing one has no end": {&After{IDs: []string{"x"}, Ended: true}, map[string]End{"x": Missing}, Skip},
		"one is missing":           {&After{IDs: []string{"x", "y"}}, map[string]End{"x": Missing}, Skip},
		"it waits for itself":      {&After{IDs: []string{"d"}, Ended: true}, nil, Skip},
		"one is named twice":       {&After{IDs: []string{"x", "x"}}, map[string]End{"x": Succeeded}, Run},
	} {
		e := edgesOf(map[string]*After{"d": c.after})
		for up, end := range c.ends {
			if by := e.Set(up, end); !slices.Contains(by, "d") {
				t.Errorf("%s: the end of %s is for %v", name, up, by)
			}
		}
		if got := e.Judge("d"); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if NewEdges().Judge("x") != Run {
		t.Error("a task that waits for nothing may not run")
	}
}

// TestNoTaskWaitsInACircle: of two tasks that name each other, the first one named a task that did
// not exist.
func TestNoTaskWaitsInACircle(t *testing.T) {
	e := edgesOf(map[string]*After{"a": {IDs: []string{"b"}}, "b": {IDs: []string{"a"}}})
	if a, b := e.Judge("a"), e.Judge("b"); a != Skip || b != Wait {
		t.Errorf("the first is judged %v, the second %v", a, b)
	}
}

func TestAnOutcomeStaysForAsLongAsATaskNamesIt(t *testing.T) {
	e := edgesOf(map[string]*After{"a": {IDs: []string{"x", "y", "x"}}, "b": {IDs: []string{"x"}}})
	e.Set("x", Succeeded)
	if free := e.Remove("a"); len(free) != 0 {
		t.Errorf("%v is free: y is open, and b names x", free)
	}
	if !e.Needed("x") || e.Needed("y") || !e.Known("x") {
		t.Error("x is needed, and nothing else")
	}
	if free := e.Remove("b"); !slices.Equal(free, []string{"x"}) {
		t.Errorf("%v is free, want x", free)
	}
	if e.Needed("x") || e.Remove("b") != nil || len(e.Open()) != 0 || e.After("b") != nil {
		t.Error("something is left")
	}
}
