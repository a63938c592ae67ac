package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// turning are the rules of keys that take turns.
var turning = []mutants.Mutant{
	{Name: "a key that has gone is not the last", Edits: []mutants.Edit{
		{"\t\ts.last++\n\t\tt.place = s.last\n", "\t\ts.last++\n"},
	}},
	{Name: "a key that comes is the first", Edits: []mutants.Edit{
		{"of = &turn[T]{place: f.turns.last}", "of = &turn[T]{}"},
	}, By: &beside},
	{Name: "a class of a kind has turns of its own", Edits: []mutants.Edit{
		{"\t\tif place == heads.Next() {\n\t\t\treturn t\n\t\t}\n", "\t\tif place >= 0 {\n\t\t\treturn t\n\t\t}\n"},
	}, By: &beside},
	{Name: "a key that has gone leads its class", Edits: []mutants.Edit{
		{"if place = l.of.place; place == f.lines.Next() {", "if place = l.of.place; place > 0 {"},
	}},
	{Name: "a key without tasks is remembered", Edits: []mutants.Edit{
		{"\t\tdelete(f.turns.keys, key)\n", "\t\t_ = key\n"},
	}, By: &beside},
	{Name: "the key that has its turn decides among kinds", Edits: []mutants.Edit{
		{
			"return f.ages.First().items.First(), f.ages.Next()",
			"return f.lines.First().items.First(), f.lines.First().items.Next()",
		},
	}, By: &beside},
	{Name: "a kind whose tasks had no key stays without turns", Edits: []mutants.Edit{
		{"t.fair() != \"\" && l.kind.turns == nil", "t.fair() != \"\" && l.kind.turns == nil && l.kind.open == 0"},
	}, By: &beside},
}
