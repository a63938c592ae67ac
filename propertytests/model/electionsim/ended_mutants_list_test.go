package electionsim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// guardedOnes is for what a guard does about a process that has ended.
var guardedOnes = mutants.Test{
	Run: "^TestGuardedProcesses$", Args: []string{"-sim.schedules", "3000", "-test.timeout", "20m"}, Says: says,
}

// wills is for what a session does that ends by a missing permission.
var wills = mutants.Test{
	Run: "^TestLastWill$", Args: []string{"-sim.schedules", "1800", "-test.timeout", "20m"}, Says: says,
}

// willOf is the test of which lease that may close.
var willOf = mutants.Test{Below: beside.Below, Run: "^TestLastWill$", Args: beside.Args, Says: beside.Says}

// ended are the rules about a process that has certainly ended.
var ended = []mutants.Mutant{
	{Name: "a guard ends the next process under the same name", Edits: []mutants.Edit{
		{"slices.Contains(e.nonces, x.Lease.Nonce)", "slices.Contains(e.nonces, e.nonces[0])"},
	}, By: &guardedOnes},
	{Name: "a guard does not look again after a refusal", Edits: []mutants.Edit{
		{"e.over = e.refused >= MostRefusals", "e.over = true"},
	}, By: &beside},
	{Name: "a guard tries for ever", Edits: []mutants.Edit{
		{"e.over = e.refused >= MostRefusals", "e.over = false"},
	}, By: &beside},
	{Name: "a guard says that the work was done", Edits: []mutants.Edit{
		{"State: record.Killed, By: By, Session", "State: record.Closed, By: By, Session"},
	}, By: &beside},
	{Name: "a guard takes an idle session for one at work", Edits: []mutants.Edit{
		{"AtRest: e.lease.State == record.Idle,", "AtRest: false,"},
	}, By: &beside},
	{Name: "an incarnation that is about to open is not known", Edits: []mutants.Edit{
		{"\tcase w.Closed:\n", "\tcase w.Closed || w.Revision == 0:\n"},
	}, By: &beside},
	{Name: "an incarnation is forgotten when the next one is about to open", Edits: []mutants.Edit{
		{"t.nonces = append(t.nonces, w.Nonce)", "t.nonces = []string{w.Nonce}"},
	}, By: &beside},
	{Name: "a guard reports a session that has ended itself", Edits: []mutants.Edit{
		{"e.dead = ours && !e.killed", "e.dead = false"},
	}, By: &beside},
	{Name: "a close that the watch shows first is not told", Edits: []mutants.Edit{
		{"m.closing.closed = m.lease.nonce\n", ""},
	}, By: &beside},
	{Name: "a lease that was closed is ended", Edits: []mutants.Edit{
		{"if t.forget(w.Nonce); len(t.nonces) == 0 {", "if len(t.nonces) == 0 {"},
	}, By: &beside},
	{Name: "a will is written before work has returned", Edits: []mutants.Edit{
		{"\t\tends = max(ends, t.returns)\n", "\t\tends = max(ends, 0*t.returns)\n"},
	}, By: &wills},
	{Name: "a will is written while a handler runs", Edits: []mutants.Edit{
		{"ends := max(w.now, e.workload)", "ends := max(w.now, 0*e.workload)"},
	}, By: &wills},
	{Name: "a will closes the lease of another process", Edits: []mutants.Edit{
		{"!p.Lease.Alive() || p.Lease.Nonce != m.lease.nonce {", "!p.Lease.Alive() {"},
	}, By: &willOf},
	{Name: "a will closes a lease that was ended", Edits: []mutants.Edit{
		{"!p.Lease.Alive() || p.Lease.Nonce != m.lease.nonce {", "p.Lease.Nonce != m.lease.nonce {"},
	}, By: &willOf},
	{Name: "a session that continues has a will", Edits: []mutants.Edit{
		{"if m.phase != ended || m.closing.closed != \"\" ||", "if m.closing.closed != \"\" ||"},
	}, By: &willOf},
}
