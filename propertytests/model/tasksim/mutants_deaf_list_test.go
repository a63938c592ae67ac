package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// astray are faults about workers that messages do not reach now and then.
var astray = []mutants.Mutant{
	{Name: "one frame that nobody has heard is enough to take back what is in others", Edits: []mutants.Edit{
		{"(w.unheard, i, i+1); len(w.unheard) == 0 {", "(w.unheard, i, i+1); true {"},
	}},
	{Name: "a refusal of a former frame is one of the present frame", Edits: []mutants.Edit{
		{"\tif i := slices.Index(w.unheard, e.Frame); i >= 0 {\n", "\tif i := min(0, len(w.unheard)-1); i >= 0 {\n"},
	}},
	{Name: "what has not left goes to a worker that hears nothing", Edits: []mutants.Edit{
		{"\t\ts.takeBack(func(t *task) bool { return t.run.worker == w })\n", ""},
	}},
	{Name: "a worker that hears nothing is given more", Edits: []mutants.Edit{
		{"w.mayTake() && !w.unreachable }", "w.mayTake() }"},
	}},
	{Name: "the next session of a worker that hears nothing is given more", Edits: []mutants.Edit{
		{"\t\t\tw.unreachable = s.reach.Open(s.now, m.Instance, m.Session)\n", ""},
	}},
	{Name: "a worker that heard nothing is never asked again", Edits: []mutants.Edit{
		{"e.session != session || e.ask > now {", "e.session != session || true {"},
	}},
}

// lonely are faults about one that they never reach.
var lonely = []mutants.Mutant{
	{Name: "a worker that hears nothing keeps what it was pushed", Edits: []mutants.Edit{
		{"\t\t\ts.reclaim(w)\n", ""},
	}},
	{Name: "a worker that hears nothing is not named", Edits: []mutants.Edit{
		{"e.session != session || e.tell > now {", "e.session != session || true {"},
	}},
	{Name: "a worker that hears nothing is asked as often as ever", Edits: []mutants.Edit{
		{"e.ask, e.pause = now.Add(e.pause), min(2*e.pause, b.cfg.Most)", "e.ask = now.Add(e.pause)"},
	}},
}

// silent are faults about one that says nothing, and of which the server says nothing.
var silent = []mutants.Mutant{
	{Name: "a worker that answers nothing for long counts as reached", Edits: []mutants.Edit{
		{"\t\t\ts.lost(w)\n\t\t\ts.emit(Unanswered", "\t\t\ts.emit(Unanswered"},
	}},
}

// estrangedOnes are faults about one that a scheduler that takes over cannot reach, or hear.
var estrangedOnes = []mutants.Mutant{
	{Name: "nobody reads what a worker says by its member record", Edits: []mutants.Edit{
		{"\tif w == nil || e.Epoch < s.cfg.Epoch || !s.mustSync(w) {\n", "\tif true {\n"},
	}},
	{Name: "what it has said to an earlier leader counts", Edits: []mutants.Edit{
		{"w == nil || e.Epoch < s.cfg.Epoch || !s.mustSync(w)", "w == nil || !s.mustSync(w)"},
	}},
	{Name: "a worker that says what it holds holds nothing", Edits: []mutants.Edit{
		{"e.Held, w.unsure || e.Beside > 0\n\ts.lost(w)\n", "nil, w.unsure || e.Beside > 0\n\ts.lost(w)\n"},
	}},
	{Name: "a worker that has said so is reached by messages", Edits: []mutants.Edit{
		{"e.Held, w.unsure || e.Beside > 0\n\ts.lost(w)\n", "e.Held, w.unsure || e.Beside > 0\n"},
	}},
	{Name: "a worker says nothing by itself", Edits: []mutants.Edit{
		{"\tif now < t.due {\n", "\tif true {\n"},
	}},
	{Name: "it says so to the first leader only", Edits: []mutants.Edit{
		{"{ t.due = now.Add(t.wait) }", "{ t.due = now.Add(t.wait); t.wait = 1 << 60 }"},
	}},
}
