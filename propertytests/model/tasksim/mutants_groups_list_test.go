package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// grouped are the bugs of groups.
var grouped = []mutants.Mutant{
	{Name: "a group is complete before all of its members were submitted", Edits: []mutants.Edit{
		{"return t.counts[Unseen]+t.counts[Open] == 0 }", "return t.counts[Open] == 0 }"},
	}},
	{Name: "a completion runs before the record of its group stands", Edits: []mutants.Edit{
		{"\tcase g.stands:\n", "\tcase g.stands || g.size > 0:\n"},
	}},
	{Name: "what an earlier scheduler has recorded of a group is forgotten", Edits: []mutants.Edit{
		{"\tg.tally.Merge(e.Closed, e.Fates)\n", "\t_ = g.tally\n"},
	}},
	{Name: "what becomes of members is recorded only when all have ended", Edits: []mutants.Edit{
		{"\t\tif g.tally.Fresh() && s.now >= g.due || s.clock", "\t\tif s.clock"},
	}, By: &beside},
	{Name: "an open group is not found before ten seconds are over", Edits: []mutants.Edit{
		{
			"\ts.tallyAt = s.now.Add(s.cfg.TallyEvery / tallyLooks)\n\tvar due",
			"\ts.tallyAt = s.now.Add(s.cfg.TallyEvery)\n\tvar due",
		},
	}, By: &beside},
	{Name: "the first group is recorded before its members come", Edits: []mutants.Edit{
		{"\tif s.tallyAt <= s.now { // there was", "\tif s.tallyAt > s.now { // there was"},
	}, By: &beside},
	{Name: "each change of a group is recorded at the next look", Edits: []mutants.Edit{
		{"\t\tif g.tally.Fresh() && s.now >= g.due || s.clock", "\t\tif g.tally.Fresh() || s.clock"},
	}, By: &beside},
	{Name: "a group whose members are missing waits for ever", Edits: []mutants.Edit{
		{"\tt.deadline = min(t.deadline, t.stored.Add(s.cfg.Unclosed))\n", "\tt.deadline = min(t.deadline, never)\n"},
	}},
	{Name: "a group is given up though all of its members are there", Edits: []mutants.Edit{
		{"\tif !g.tally.Closed() || t.deadline", "\tif g.tally.Closed() || t.deadline"},
	}},
	{Name: "a dead member counts as one that has succeeded", Edits: []mutants.Edit{
		{"\t\treturn groups.Dead\n", "\t\treturn groups.Done\n"},
	}},
	{Name: "the end of a member that a scheduler has only read is missed", Edits: []mutants.Edit{
		{"\ts.tellGroup(e.ID, fateOf(e.Status), e.Of)\n", "\t_ = fateOf(e.Status)\n"},
	}},
	{Name: "a member whose outcome has left is waited for", Edits: []mutants.Edit{
		{"\t\tif (f == Open || f == Unseen && closed) && !open(i) {\n", "\t\tif f == fates && closed && !open(i) {\n"},
	}, By: &beside},
	{Name: "a member of an earlier group of the name counts", Edits: []mutants.Edit{
		{"of > 0 && of < s.tasks.get(completion).revision ||", "of > s.tasks.get(completion).revision && of == 0 ||"},
	}, By: &namesAgain},
	{Name: "a member that was never submitted has ended, since nothing stands in its place", Edits: []mutants.Edit{
		{"f == groups.Lost && g.tally.Fate(index) == groups.Unseen {", "f == groups.Lost && g == nil {"},
	}, By: &beside},
	{Name: "the record of an earlier group of the name counts", Edits: []mutants.Edit{
		{"e.Of != t.revision", "e.Of > t.revision"},
	}, By: &beside},
}
