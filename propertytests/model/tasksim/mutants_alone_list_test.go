package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// crowding are the bugs by which something else runs beside what must run alone, in the worlds of
// handlers that do not return.
var crowding = []mutants.Mutant{
	{Name: "what must run alone is taken beside other handlers", Edits: []mutants.Edit{
		{"a.Alone && w.busy+len(blocked) > 0", "a.Alone && w.busy < 0"},
	}},
	{Name: "a worker that was to stop something has taken what it has not answered", Edits: []mutants.Edit{
		{"suspect && t.run.alone && t.phase == running", "suspect && t.run.alone"},
	}},
}

// isolating are those that the tests beside the rules find.
var isolating = []mutants.Mutant{
	{Name: "a worker does not know what must run alone", Edits: []mutants.Edit{
		{"Checkpoint: t.checkpoint, Alone: t.run.alone,", "Checkpoint: t.checkpoint,"},
	}},
	{Name: "what was taken to run alone does not count when something was stopped", Edits: []mutants.Edit{
		{"ran.alone || suspect && t.run.alone", "ran.alone || !suspect && t.run.alone"},
	}},
	{Name: "handlers beside what a worker holds are not counted", Edits: []mutants.Edit{
		{"w.unsure || e.Beside > 0\n}", "w.unsure\n}"},
	}},
	{Name: "a suspect that need not run alone is left alone after one that had to", Edits: []mutants.Edit{
		{"\t\tif s.isolated(t) {\n\t\t\tw.alone", "\t\tif w.alone > 0 || s.isolated(t) {\n\t\t\tw.alone"},
	}},
	{Name: "what must run alone goes where something was stopped", Edits: []mutants.Edit{
		{"if alone && w.unsure != than.unsure {", "if alone && w.order < 0 {"},
	}},
	{Name: "what must run alone is sent again where a handler does not return", Edits: []mutants.Edit{
		{"a.Verdict == Busy && t.run.alone", "a.Verdict == Accepted && t.run.alone"},
	}},
	{Name: "a worker that has refused what must run alone is asked again at once", Edits: []mutants.Edit{
		{"w.shuns = now.Add(min(firstShun<<min(w.shunned, 8), longestShun))", "w.shuns = now"},
	}},
	{Name: "a worker that refuses what must run alone is asked as often as ever", Edits: []mutants.Edit{
		{"min(firstShun<<min(w.shunned, 8), longestShun)", "firstShun"},
	}},
	{Name: "a worker is emptied in vain again and again", Edits: []mutants.Edit{
		{"now.Add(usedBetween * now.Sub(w.emptied))", "now"},
	}},
	{Name: "a worker that was emptied in vain is not asked either", Edits: []mutants.Edit{
		{"\tw.unsure, w.emptied = true, 0\n", "\tw.shuns = max(w.shuns, w.spared)\n\tw.unsure, w.emptied = true, 0\n"},
	}},
	{Name: "a worker that would refuse is emptied", Edits: []mutants.Edit{
		{"w.reserved == s.round || w.shuns > s.now ||", "w.reserved == s.round ||"},
	}},
	{Name: "a worker that others use counts as being emptied", Edits: []mutants.Edit{
		{"\tif !r.alone {\n\t\tw.emptied = 0\n\t}\n", ""},
	}},
	{Name: "a worker that takes what must run alone has refused it before", Edits: []mutants.Edit{
		{"r.worker.shunned, r.worker.emptied = 0, 0", "r.worker.emptied = 0"},
	}},
	{Name: "a session says nothing of handlers of an earlier one", Edits: []mutants.Edit{
		{"w.unsure || m.Beside", "w.unsure"},
	}},
}
