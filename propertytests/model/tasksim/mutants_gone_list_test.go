package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// settled are the rules by which one seal settles all outcomes that are gone.
var settled = []mutants.Mutant{
	{Name: "the answers to other writes are not awaited", Edits: []mutants.Edit{
		{"\tl.retry = max(l.retry, s.now.Add(s.cfg.WriteTime))\n", ""},
	}},
	{Name: "an answer that does not come is awaited for ever", Edits: []mutants.Edit{
		{"\tl.retry = max(l.retry, s.now.Add(s.cfg.WriteTime))\n", "\tl.retry = never\n"},
	}},
	{Name: "what is refused while another seal is under way was gone", Edits: []mutants.Edit{
		{"twofold && guard == s.seal.under && e.Outcome", "twofold && e.Outcome"},
	}},
}
