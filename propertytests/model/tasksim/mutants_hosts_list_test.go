package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// onHosts are the bugs of workers that are lost together.
var onHosts = []mutants.Mutant{
	{Name: "workers of one host that are lost together count each by itself", Edits: []mutants.Edit{
		{"\t\ts.excuse(&ran, s.falls(w, &ran))\n", "\t\t_ = s.falls(w, &ran)\n"},
	}},
	{Name: "what was sent to a worker of a lost host, and was never begun, counts", Edits: []mutants.Edit{
		{"(x.ran < s.now.Sub(with.at) && x.t.phase != pushed) ||", "x.ran < s.now.Sub(with.at) ||"},
	}},
	{Name: "what ran on the worker that was known to be lost first stays suspected", Edits: []mutants.Edit{
		{"\t\t\ts.hold(t, with.before[id])\n", "\t\t\t_ = t\n"},
	}},
}

// onHostsBeheaded are those that need a lost scheduler beside a lost host.
var onHostsBeheaded = []mutants.Mutant{
	{Name: "the suspicion of what a note says runs alone is taken back", Edits: []mutants.Edit{
		{"s.budget(t) && !s.begun[id].alone {", "s.budget(t) {"},
	}},
}

// onHostsRarely are those of them that chance meets too rarely.
var onHostsRarely = []mutants.Mutant{
	{Name: "the workers of a host that is lost twice count each by itself", Edits: []mutants.Edit{
		{"f == nil || f.at < w.since {", "f == nil {"},
	}},
	{Name: "what began on the second worker after the loss of the first is excused", Edits: []mutants.Edit{
		{"(x.ran < s.now.Sub(with.at) && x.t.phase != pushed) ||", "(x.ran < 0 && x.t.phase != pushed) ||"},
	}},
	{Name: "a task that takes hosts down is excused for ever", Edits: []mutants.Edit{
		{"|| int(x.t.crashes) >= s.budget(x.t) {", "|| int(x.t.crashes) < 0 {"},
	}},
	{Name: "two losses of one host count as one however far apart", Edits: []mutants.Edit{
		{"return s.now.Sub(f.at) > s.cfg.LossTime }", "return s.now.Sub(f.at) > 1000*s.cfg.LossTime }"},
	}},
}
