package protocol

import (
	"slices"
	"testing"
	"time"
)

// depending returns a rig with a role that depends on term 7 elsewhere, and leads it.
func depending(t *testing.T) *rig {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r", Condition: 1, WaitsFor: "other@b"}})
	g.run(3*time.Second, nil)
	if g.m.leading > 0 {
		t.Fatal("leads before the other role is led")
	}
	g.step(Condition{ID: 1, Term: 7, Until: g.now.Holder.Add(time.Minute)})
	g.run(3*time.Second, nil)
	if r := g.m.part("r"); r.term == nil || !r.term.leading() || r.term.under != 7 {
		t.Fatalf("does not lead under the other term: %+v", r.term)
	}
	return g
}

func (g *rig) ends() (causes []Cause) {
	for _, e := range g.effs {
		if e, ok := e.(EndTerm); ok {
			causes = append(causes, e.Cause)
		}
	}
	return causes
}

// TestConditionEnds: a term ends when it is told that the other one has ended, or that another one
// is there; when the other one is not trusted any more, by the very moment; and when it hears of a
// trust that is over.
func TestConditionEnds(t *testing.T) {
	for name, end := range map[string]func(g *rig){
		"ended":   func(g *rig) { g.step(Condition{ID: 1}) },
		"another": func(g *rig) { g.step(Condition{ID: 1, Term: 8, Until: g.now.Holder.Add(time.Minute)}) },
		"late":    func(g *rig) { g.step(Condition{ID: 1, Term: 7, Until: g.now.Holder}) },
		"by the clock": func(g *rig) {
			g.step(Condition{ID: 1, Term: 7, Until: g.now.Holder.Add(300 * time.Millisecond)})
			if next := g.m.Next(g.now); next > 300*time.Millisecond {
				t.Errorf("wakes after %v", next)
			}
			g.now.Holder = g.now.Holder.Add(300 * time.Millisecond)
			g.step(Tick{})
		},
	} {
		g := depending(t)
		if end(g); !slices.Equal(g.ends(), []Cause{ConditionEnded}) {
			t.Errorf("%s: terms ended by %v", name, g.ends())
		}
	}
}

// TestConditionIsTold: the member record says what a role waits for, while it does, also if it is
// not eligible for another reason.
func TestConditionIsTold(t *testing.T) {
	g := depending(t)
	says := func(waits string, eligible bool) {
		t.Helper()
		g.run(3*time.Second, nil)
		if said, _ := g.m.own.said.Candidacy("r"); said.Waits != waits || said.Eligible != eligible {
			t.Errorf("says %+v", said)
		}
	}
	says("", true)
	g.step(Pause{ID: 1, Role: "r"})
	g.step(Drained{Role: "r", Term: g.begin("r").Epoch})
	says("", false)
	g.step(Condition{ID: 1})
	says("other@b", false)
	g.step(Resume{ID: 2, Role: "r"})
	says("other@b", false)
	g.step(Condition{ID: 1, Term: 8, Until: g.now.Holder.Add(time.Minute)})
	says("", true)
}

// TestConditionIsForgotten: when the last role that depends on it was left, nothing is kept of it,
// and what comes late changes nothing.
func TestConditionIsForgotten(t *testing.T) {
	g := depending(t)
	g.step(Join{RoleConfig{Name: "s", Condition: 1}})
	if r := g.m.part("s"); !r.condition.lasts() {
		t.Error("the second role does not share the condition")
	}
	for i, role := range []string{"r", "s"} {
		g.step(Leave{ID: CommandID(i + 1), Role: role, Vacate: true})
		if r := g.m.part(role); r.term != nil {
			g.step(Drained{Role: role, Term: r.term.id})
		}
		g.run(3*time.Second, nil)
		if n := len(g.m.conditions); n != 1-i {
			t.Errorf("%d conditions after %s was left", n, role)
		}
	}
	g.step(Condition{ID: 1, Term: 9, Until: g.now.Holder.Add(time.Minute)})
	g.step(Join{RoleConfig{Name: "r", Condition: 1}})
	if r := g.m.part("r"); r.condition.lasts() {
		t.Error("knows what was told before it depended on it")
	}
}
