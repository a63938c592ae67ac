package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// bundled are those of the rules of submissions that were stored together.
var bundled = []mutants.Mutant{
	{Name: "members that have ended are taken for open", Edits: []mutants.Edit{
		{
			"for _, id := range s.bundles.Told(e.Name, e.Of, e.Ended) {\n\t\ts.memberEnded(id, e.Of)",
			"for range s.bundles.Told(e.Name, e.Of, e.Ended) {",
		},
	}},
	{Name: "members of a bundle that is gone are taken for open", Edits: []mutants.Edit{
		{"for _, id := range ids {\n\t\ts.memberEnded(id, of)", "for _, id := range ids {\n\t\ts.memberEnded(id, of-of)"},
	}},
	{Name: "members that had ended before are left out", Edits: []mutants.Edit{
		{"Ended: slices.Clone(x.ended), Told", "Ended: NewSet(len(x.indexes)), Told"},
	}},
	{Name: "members that have ended are not counted", Edits: []mutants.Edit{
		{"\t\ts.bundles.Ended(m)\n", "\t\t_ = m\n"},
	}},
	{Name: "no new seal after a batch with members that is lost", Edits: []mutants.Edit{
		{"func (EndsUnknown) apply(s *Scheduler) { s.renew() }", "func (EndsUnknown) apply(*Scheduler) {}"},
	}},
	{Name: "a bundle stays when all have ended", Edits: []mutants.Edit{
		{"r.Whole = r.Ended.Len() == len(x.indexes)", "r.Whole = false"},
	}},
	{Name: "a bundle is removed when most have ended", Edits: []mutants.Edit{
		{"r.Whole = r.Ended.Len() == len(x.indexes)", "r.Whole = r.Ended.Len() >= len(x.indexes)-1"},
	}},
	{Name: "the record beside a bundle stays", Edits: []mutants.Edit{
		{"Told: x.told, Stays", "Stays"},
	}},
	{Name: "an outcome of a member is written over its own submission only", Edits: []mutants.Edit{
		{"w.again = !within && (w.again || s.outlived(w))", "w.again = w.again || s.outlived(w)\n\t\t_ = within"},
	}},
}

// claimedBlocks are those of the rules of bundles that come after their tasks were submitted again.
var claimedBlocks = []mutants.Mutant{
	{Name: "a block is not claimed before its task is submitted again", Edits: []mutants.Edit{
		{"return ok && s.Last >=", "return !ok || s.Last >="},
	}},
	{Name: "a claim is relied on that another client has stored, whenever", Edits: []mutants.Edit{
		{"return ok && s.Last >=", "return s.Last > 0 && !ok || s.Last >="},
	}},
	{Name: "a claim is relied on until it goes", Edits: []mutants.Edit{
		{"now.Sub(x.sent) < c.keep", "now.Sub(x.sent) < 3*c.keep"},
	}},
	{Name: "a bundle that is shut out is taken for stored", Edits: []mutants.Edit{
		{"case slices.Contains(s.names, bundle):", "case slices.Contains(s.names, bundle), s.Last > 0:"},
	}},
	{Name: "a claim stands at the place of its task, which may be that of a bundle", Edits: []mutants.Edit{
		{"\tblock, _, _ := Split(id)\n\treturn ID(block, Most-1)\n", "\treturn id\n"},
	}},
	{Name: "a bundle that is there is taken for shut out", Edits: []mutants.Edit{
		{"case slices.Contains(s.names, bundle):", "case slices.Contains(s.names, \"\"):"},
	}},
}

// remembered are those of the claims that a client remembers.
var remembered = []mutants.Mutant{
	{Name: "a claim is relied on that the reading does not show", Edits: []mutants.Edit{
		{"ok && s.Last >= x.revision &&", "ok && s.Last < 1<<63 &&"},
	}},
}
