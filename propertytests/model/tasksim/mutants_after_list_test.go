package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// chained are the bugs of tasks that wait for others.
var chained = []mutants.Mutant{
	{Name: "a task waits for no other", Edits: []mutants.Edit{
		{"\tif e.After != nil {\n\t\ts.block", "\tif e.After != nil && e.Policy == nil {\n\t\ts.block"},
	}},
	{Name: "a task runs after one that has failed", Edits: []mutants.Edit{
		{"\t\t\tif !w.after.Ended {", "\t\t\tif w.after == nil {"},
	}},
	{Name: "a task is skipped for one whose end was all that it waits for", Edits: []mutants.Edit{
		{"\t\t\tif !w.after.Ended {", "\t\t\tif w.after != nil {"},
	}},
	{Name: "one of those that a task waits for is enough", Edits: []mutants.Edit{
		{"\t\tcase Unknown:\n\t\t\tv = Wait\n", "\t\tcase Unknown:\n\t\t\tv = Run\n"},
	}},
	{Name: "a task waits for ever for one that does not exist", Edits: []mutants.Edit{
		{"\t\tcase Missing:\n\t\t\treturn Skip\n", "\t\tcase Missing:\n\t\t\treturn Wait\n"},
	}},
	{Name: "tasks wait in a circle", Edits: []mutants.Edit{
		{"\t\te.waits[by].later = true\n", "\t\te.waits[by].later = e.waits[by].later || e == nil\n"},
	}},
	{Name: "a task waits for itself", Edits: []mutants.Edit{
		{"later: slices.Contains(a.IDs, id)", "later: false"},
	}},
	{Name: "an outcome that is waited for leaves", Edits: []mutants.Edit{
		{"\t\tw.stays = s.edges.Needed(t.id())\n", ""},
	}},
	{Name: "an outcome is released though an open task names it", Edits: []mutants.Edit{
		{"\t\tif len(u.by) == 0 {\n", "\t\tif len(u.by) >= 0 {\n"},
	}},
	{Name: "an outcome stays though no open task names it", Edits: []mutants.Edit{
		{"\ts.left = append(s.left, s.edges.Remove(t.id())...)\n", "\ts.edges.Remove(t.id())\n"},
	}},
	{Name: "what an earlier scheduler has kept stays", Edits: []mutants.Edit{
		{
			"\tif !s.edges.Needed(e.ID) {\n\t\ts.emit(ReleaseOutcome{e.ID})\n",
			"\tif s.edges == nil {\n\t\ts.emit(ReleaseOutcome{e.ID})\n",
		},
	}},
	{Name: "what ended before all was read is not asked for", Edits: []mutants.Edit{
		{"\t\ts.inquire(up, s.seal.valid)\n", "\t\t_ = up\n"},
	}},
	{Name: "an end that the stream never shows is not asked for", Edits: []mutants.Edit{
		{"\t\tif !shown {\n", "\t\tif shown {\n"},
	}, By: &beside},
	{Name: "a task that is submitted again has ended already", Edits: []mutants.Edit{
		{"\ts.edges.Set(e.ID, groups.Unknown)\n", "\ts.edges.Set(\"\", groups.Unknown)\n"},
	}, By: &beside},
	{Name: "a task that was handed out before is held back", Edits: []mutants.Edit{
		{
			"t.phase == blocked && (!r.Attempt.IsZero() || !r.Started.IsZero())",
			"t.phase == blocked && r.Attempt.IsZero() && r.Wait < 0",
		},
	}, By: &beside},
}
