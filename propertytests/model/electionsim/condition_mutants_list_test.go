package electionsim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// underConditions is the test of roles that depend on a term elsewhere.
var underConditions = mutants.Test{
	Run: "^TestConditions$", Args: []string{"-sim.schedules", "3000", "-test.timeout", "20m"}, Says: says,
}

// toldOfConditions is the tests of one machine whose roles depend on one.
var toldOfConditions = mutants.Test{
	Below: beside.Below, Args: beside.Args, Says: beside.Says, Run: "^TestCondition(Ends|IsTold|IsForgotten)$",
}

var conditions = []mutants.Mutant{
	{Name: "a term outlives the one that it depends on", By: &underConditions, Edits: []mutants.Edit{
		{"r.term.leading() && r.term.under != term {", "r.term.leading() && r.term.under != term && term != 0 {"},
	}},
	{Name: "the next term elsewhere counts as the last one", By: &underConditions, Edits: []mutants.Edit{
		{"r.term.leading() && r.term.under != term {", "r.term.leading() && term == 0 {"},
	}},
	{Name: "a term elsewhere lasts until somebody tells of its end", By: &underConditions, Edits: []mutants.Edit{
		{"if c.term != 0 && c.until <= m.now.Holder {", "if c.term != 0 && c.until <= 0 {"},
	}},
	{Name: "nobody wakes when a term elsewhere ends", By: &underConditions, Edits: []mutants.Edit{
		{"\tm.conditionsEnd(ahead)\n", ""},
	}},
	{Name: "a term elsewhere that is over is told of too late", By: &toldOfConditions, Edits: []mutants.Edit{
		{"if x.Term == 0 || x.Until <= m.now.Holder {", "if x.Term == 0 {"},
	}},
	{Name: "a role is claimed without the term that it depends on", By: &underConditions, Edits: []mutants.Edit{
		{"r.barred == 0 && r.condition.lasts() && r.leaving == nil", "r.barred == 0 && r.leaving == nil"},
	}},
	{Name: "nobody is told what a role waits for", By: &toldOfConditions, Edits: []mutants.Edit{
		{"r.condition == c {\n\t\t\tm.touchMember()\n", "r.condition == c {\n"},
	}},
	{Name: "a condition is kept for ever", By: &toldOfConditions, Edits: []mutants.Edit{
		{"if c.parts--; c.parts == 0 {", "if c.parts--; c.parts < 0 {"},
	}},
}
