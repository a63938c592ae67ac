package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// rewritten are the bugs of readings during which outcomes are written again.
var rewritten = []mutants.Mutant{
	{Name: "two seals are enough, whatever the reading has missed", Edits: []mutants.Edit{
		{"\tcase missed && l.third < mostSeals:\n", "\tcase missed && l.third < 0*mostSeals:\n"},
	}},
	{Name: "a gap is closed by any record that comes later", Edits: []mutants.Edit{
		{"\t\tdelete(r.now.missing, over)\n", "\t\tclear(r.now.missing)\n"},
	}},
	{Name: "what was missed two seals ago is known since", Edits: []mutants.Edit{
		{"\t\tmissed = r.from\n", "\t\tmissed = max(r.seals[1], 1)\n"},
	}},
	{Name: "what was missed before the first seal of the two counts", Edits: []mutants.Edit{
		{"l.second && e.Missed != 0 && e.Missed <= l.from", "l.second && e.Missed != 0 && e.Missed < l.from"},
	}},
}

// unknowable are those of them that chance meets too rarely.
var unknowable = []mutants.Mutant{
	{Name: "a gap that is closed behind the second seal stays open", Edits: []mutants.Edit{
		{"\tr.before, r.now = r.now, stretch{}\n", "\tr.before, r.now = stretch{lost: true}, stretch{}\n"},
	}},
	{Name: "of too many gaps the first ones are all", Edits: []mutants.Edit{
		{"\t\tw.missing, w.lost = nil, true\n", "\t\tw.missing, w.lost = nil, false\n"},
	}},
	{Name: "an outcome that nobody knows of is written over", Edits: []mutants.Edit{
		{"(s.seal.unsure || s.reading > 0 &&", "(s.reading > 0 &&"},
	}},
	{Name: "our own outcome is written over what has taken its place unseen", Edits: []mutants.Edit{
		{"\t\tw.again = w.again || missed && w.doubtful()\n", ""},
	}},
	{Name: "a reading that nobody can be sure of holds up all tasks", Edits: []mutants.Edit{
		{"\tcase missed && l.third < mostSeals:\n", "\tcase missed:\n"},
	}},
}
