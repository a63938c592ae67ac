package tasksim

import (
	"regexp"

	"github.com/rolemanager/rolemanager/propertytests/campaign/mutants"
)

// aghast is beside for what leaves a queue empty that must not be.
var aghast = mutants.Test{
	Below: beside.Below, Run: beside.Run, Args: beside.Args,
	Says: regexp.MustCompile(`--- FAIL: (?P<within>\S+)[^\n]*\n(?s:.*?)panic: (?P<what>[^\n]*)`),
}

// turning are the rules of keys that take turns.
var turning = []mutants.Mutant{
	{Name: "a key that has gone is not the last", Edits: []mutants.Edit{
		{"t.place, t.gone = s.last, 0", "t.gone = 0"},
	}},
	{Name: "a key goes once whatever its share", Edits: []mutants.Edit{
		{"int(t.gone) >= s.Shares[key]", "t.gone > 0"},
	}, By: &beside},
	{Name: "a key has its share once", Edits: []mutants.Edit{
		{"t.place, t.gone = s.last, 0", "t.place = s.last"},
	}, By: &beside},
	{Name: "a key of several shares goes once more", Edits: []mutants.Edit{
		{"int(t.gone) >= s.Shares[key]", "int(t.gone) > s.Shares[key]"},
	}, By: &beside},
	{Name: "shares that change count in the next term", Edits: []mutants.Edit{
		{"\tif k.turns != nil {\n\t\tk.turns.Shares = k.shares\n\t}\n", ""},
	}, By: &beside},
	{Name: "shares from before the first fair key are forgotten", Edits: []mutants.Edit{
		{"\tk.turns.Shares = k.shares\n\tfor", "\tfor"},
	}, By: &beside},
	{Name: "no override of shares counts", Edits: []mutants.Edit{
		{"\t\tk.shares = b.override.Shares\n", ""},
	}, By: &beside},
	{Name: "an override of another limit takes shares back", Edits: []mutants.Edit{
		{"; b.override != nil && b.override.Shares != nil {", "; b.override != nil {"},
	}, By: &beside},
	{Name: "a key that comes is the first", Edits: []mutants.Edit{
		{"of = &turn{place: f.turns.last}", "of = &turn{}"},
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
	{Name: "what is parked for a limit key has turns of its own", Edits: []mutants.Edit{
		{"\t\tn.share(l.kind.turns)\n", "\t\tif l.kind.turns != nil {\n\t\t\tn.share(queue.NewTurns[*task]())\n\t\t}\n"},
	}, By: &beside},
	{Name: "a key that has gone leads what is parked", Edits: []mutants.Edit{
		{"if place == l.byTurn.Next() {", "if place >= 0 {"},
	}, By: &beside},
	{Name: "a key of which a task is parked loses its turn", Edits: []mutants.Edit{
		{"\t\tturns.Keep(t.fair(), move)\n", "\t\tmove()\n"},
	}, By: &beside},
	{Name: "what is parked before a kind has fair keys stays without turns", Edits: []mutants.Edit{
		{"\t\t\tl.parked[of].takeTurns(s)\n", "\t\t\t_ = l.parked[of]\n"},
	}, By: &aghast},
	{Name: "a subqueue that a kind had before fair keys is offered at no turn", Edits: []mutants.Edit{
		{"\t\tn.add(s, t)\n\t}\n\ts.tend(n)\n", "\t\tn.add(s, t)\n\t}\n"},
	}, By: &aghast},
	{Name: "of one tenant what was submitted first goes first", Edits: []mutants.Edit{
		{"n.turn = uint64(t.turn(s)) ^ 1<<63", "n.turn = t.Order()"},
	}, By: &beside},
	{Name: "what a limit key lets go is ahead of its class", Edits: []mutants.Edit{
		{"l.byAge.Put(n, n.queue.Next())", "l.byAge.Put(n, 0)"},
	}, By: &beside},
	{Name: "what a limit key lets go waits for another event", Edits: []mutants.Edit{
		{"if before == 0 && n.of != nil {", "if before < 0 {"},
	}, By: &beside},
	{Name: "what a limit key lets go is said to wait for it", Edits: []mutants.Edit{
		{"if t.subqueue().offered == 0 && slices", "if t.phase == parked && slices"},
	}, By: &beside},
	{Name: "a worker that is kept for a suspect is said to be busy", Edits: []mutants.Edit{
		{"\t\t\tis = reserved\n", "\t\t\tis = busy\n"},
	}, By: &beside},
	{Name: "a key is remembered when what was parked last has gone", Edits: []mutants.Edit{
		{"\ts.leaveLimit(n.key, n.of)\n", ""},
	}, By: &beside},
}
