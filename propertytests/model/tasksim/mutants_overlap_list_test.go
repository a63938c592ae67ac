package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// overlapped are bugs of recurrences whose tasks must not overlap.
var overlapped = []mutants.Mutant{
	{Name: "a tick does not wait for the open task", Edits: []mutants.Edit{
		{"case overlap == recurring.Skip || !s.busy(r):", "case overlap == recurring.Skip || s.over == false:"},
	}},
	{Name: "a tick is not skipped for the open task", Edits: []mutants.Edit{
		{"&& len(r.ready) > 0 && s.busy(r) {", "&& len(r.ready) > 1 && s.busy(r) {"},
	}},
	{Name: "a task that the stream has not shown is not open", Edits: []mutants.Edit{
		{"\tcase !r.fresh.IsZero():\n\t\treturn true\n", ""},
	}},
	{Name: "what waits is not woken", Edits: []mutants.Edit{
		{"r.def.Overlap != recurring.Allow && s.settled {", "r.def.Overlap != recurring.Allow && !s.settled {"},
	}},
}

// passedOver are bugs that tests beside the rules find.
var passedOver = []mutants.Mutant{
	{Name: "a task that cannot be read is not open", Edits: []mutants.Edit{
		{"\ts.opaque[e.ID] = o\n\ts.instances.Add(e.ID)\n", "\ts.opaque[e.ID] = o\n"},
	}},
	{Name: "the open task is not cancelled", Edits: []mutants.Edit{
		{"\t\ts.replaceRunning(r)\n", ""},
	}},
	{Name: "a tick that is left out is not noted", Edits: []mutants.Edit{
		{
			"\tif len(r.ready) == 0 {\n\t\tr.write = &write{kind: passWrite",
			"\tif len(r.ready) > 1<<20 {\n\t\tr.write = &write{kind: passWrite",
		},
	}},
	{Name: "each of several ticks cancels the one before", Edits: []mutants.Edit{
		{"\tif p.Overlap.One() {\n", "\tif p.Overlap.One() && p.Paused {\n"},
	}},
	{Name: "a recurrence ends at the first stroke", Edits: []mutants.Edit{
		{"max(strings.LastIndexByte(id, '/'), 0)", "max(strings.IndexByte(id, '/'), 0)"},
	}},
}
