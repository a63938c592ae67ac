package electionsim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// evenly is the tests of roles that are spread.
var evenly = mutants.Test{
	Run: "^TestSpread", Args: []string{"-sim.schedules", "3000", "-test.timeout", "20m"}, Says: says,
}

// admits is the test of what a target counts. In the schedules the leaders, which see the same, ask
// nobody who would say no.
var admits = mutants.Test{Run: "^TestSpread(Admits|CountsPromises)$", Args: beside.Args, Says: says}

// settles is the test of what keeps a group from settling, and for how long.
var settles = mutants.Test{
	Below: beside.Below, Run: "^TestBalancesWhileProcessesCome$", Args: beside.Args,
	Says: beside.Says,
}

// takesOver is the test of a takeover while balance waits for an answer.
var takesOver = mutants.Test{
	Below: beside.Below, Run: "^TestTakeoverAfterBalance$", Args: beside.Args,
	Says: beside.Says,
}

// goesOn is the test of a role that is left and joined again while it moves.
var goesOn = mutants.Test{
	Below: beside.Below, Run: "^TestBalanceGoesOnAfterALeave$", Args: beside.Args,
	Says: beside.Says,
}

// restsOn is the test of a moved role whose session is lost and opened again.
var restsOn = mutants.Test{
	Below: beside.Below, Run: "^TestMovedRoleRestsInTheNextTerm$", Args: beside.Args,
	Says: beside.Says,
}

// follows is the test of roles in which we take no part.
var follows = mutants.Test{
	Below: beside.Below, Run: "^TestBalanceFollowsTheLoadOfOthers$", Args: beside.Args,
	Says: beside.Says,
}

// findsRoom is the test of what happens when a full process gives a role away.
var findsRoom = mutants.Test{
	Below: beside.Below, Run: "^TestFullWithManyRoles$", Args: beside.Args,
	Says: beside.Says,
}

// looks is the test of a picture that is looked at again.
var looks = mutants.Test{Below: beside.Below, Run: "^TestAnotherLook$", Args: beside.Args, Says: beside.Says}

// deals is the test of the order in which vacancies are dealt out.
var deals = mutants.Test{
	Below: []string{"internal/protocol/spread"}, Run: "^TestDealsInTheOrderInWhichTheyFell$", Args: beside.Args,
	Says: beside.Says,
}

// dealsLast is the test of roles that have to be waited for.
var dealsLast = mutants.Test{
	Below: []string{"internal/protocol/spread"}, Run: "^TestDealsFirstWhatCanBeClaimed$", Args: beside.Args,
	Says: beside.Says,
}

// lostWait is the test of which roles have to be waited for.
var lostWait = mutants.Test{Below: beside.Below, Run: "^TestLostRolesWait$", Args: beside.Args, Says: beside.Says}

// fewPlans is the test of how many plans many vacancies take.
var fewPlans = mutants.Test{
	Below: beside.Below, Run: "^TestFewPlans", Args: beside.Args,
	Says: beside.Says,
}

// promised is the tests of how long a promise lasts.
var promised = mutants.Test{
	Below: beside.Below, Run: "^TestPromise(Lasts|IsRenewed)", Args: beside.Args, Says: beside.Says,
}

// unable is the tests of what is given to a member that would not lead it any more.
var unable = mutants.Test{Below: beside.Below, Run: "Unable$", Args: beside.Args, Says: beside.Says}

// dealsSoon is the tests of when roles are dealt out that no plan deals out rightly.
var dealsSoon = mutants.Test{
	Below: beside.Below, Run: "^Test(FewRolesAreDealtSoon|PlansDiffer|DealtAgain.*)$",
	Args: beside.Args, Says: beside.Says,
}

var spreading = []mutants.Mutant{
	{Name: "what members say now is not looked at again", By: &looks, Edits: []mutants.Edit{
		{"p.Peers[n] != peer || !p.says(n, peer.Member) {", "p.Peers[n] != peer {"},
	}},
	{Name: "lists of members are one, whatever they say", By: &beside, Edits: []mutants.Edit{
		{"p.Member != nil && p.Member.Roles.Equal(m.Roles) {", "p.Member != nil && len(p.Member.Roles) == len(m.Roles) {"},
	}},
	{Name: "roles are not looked at when a list has changed", By: &beside, Edits: []mutants.Edit{
		{" ||\n\t\t!old.Roles.Same(m.Roles) {", " {"},
	}},
	{Name: "members that leave are not looked at again", By: &looks, Edits: []mutants.Edit{
		{"return n == len(p.Peers)\n", "return true\n"},
	}},
	{Name: "vacancies are dealt by the ages of their records", By: &deals, Edits: []mutants.Edit{
		{"cmp.Compare(p.Roles[a].Fell, p.Roles[b].Fell)", "cmp.Compare(p.Roles[a].Revision, p.Roles[b].Revision)"},
	}},
	{Name: "lost roles are dealt out before those that can be claimed", By: &dealsLast, Edits: []mutants.Edit{
		{"compareBool(p.Roles[a].Waits, p.Roles[b].Waits)", "compareBool(false, p.Roles[b].Waits && false)"},
	}},
	{Name: "a role that was taken by force is not waited for", By: &lostWait, Edits: []mutants.Edit{
		{"return r.Role.Vacant && r.Role.Forced\n", "return r.Role.Vacant && r.Role.Forced && false\n"},
	}},
	{Name: "a role that was deleted or garbled is not waited for", By: &lostWait, Edits: []mutants.Edit{
		{"record.FormMissing, record.FormGarbage:\n\t\treturn true", "record.FormMissing, record.FormGarbage:\n\t\tbreak"},
	}},
	{Name: "a plan for each role that is given to somebody", By: &fewPlans, Edits: []mutants.Edit{
		{"planned.Revision != rv.Revision && !given ||", "planned.Revision != rv.Revision && (!given || given) ||"},
	}},
	{Name: "vacancies do not gather", By: &fewPlans, Edits: []mutants.Edit{
		{"first := min(m.cfg.Heartbeat/64, 10*time.Millisecond)", "first := min(m.cfg.Heartbeat/64, 10*time.Nanosecond)"},
	}},
	{Name: "plans follow one another as fast as before", By: &fewPlans, Edits: []mutants.Edit{
		{"return min(first<<g.row, ", "return min(first, "},
	}},
	{Name: "small groups wait as large ones do", By: &dealsSoon, Edits: []mutants.Edit{
		{"max(first, time.Duration(len(g.picture.Roles))*perRole)", "max(m.cfg.Heartbeat/4, 0*perRole)"},
	}},
	{Name: "roles that were lost are claimed in the order in which they are dealt", By: &dealsSoon, Edits: []mutants.Edit{
		{
			"return !role.Waits && (member == role.At || member == g.plan.To[i])",
			"return !role.Waits && member == role.At || member == g.plan.To[i]",
		},
	}},
	{Name: "all have planned with our own claim of a role that was lost", By: &dealsSoon, Edits: []mutants.Edit{
		{
			"return !role.Waits && (member == role.At || member == g.plan.To[i])",
			"return member == role.At || !role.Waits && member == g.plan.To[i]",
		},
	}},
	{Name: "one plan ends the doubt whether others share it", By: &dealsSoon, Edits: []mutants.Edit{
		{"maxDoubts = 3\n", "maxDoubts = 0\n"},
	}},
	{Name: "what others have planned without is dealt out again and again", By: &dealsSoon, Edits: []mutants.Edit{
		{"\t\tg.doubts--\n", ""},
	}},
	{Name: "a doubt whether others share a plan never ends", By: &dealsSoon, Edits: []mutants.Edit{
		{"if m.now.Observer >= g.doubted.Add(m.cfg.MaxTTL) {", "if m.now.Observer < g.doubted {"},
	}},
	{Name: "a doubt ends before others may have known of what fell vacant", By: &dealsSoon, Edits: []mutants.Edit{
		{"if m.now.Observer >= g.doubted.Add(m.cfg.MaxTTL) {", "if m.now.Observer >= g.doubted {"},
	}},
	{Name: "plans that follow one another put off our own turn", By: &dealsSoon, Edits: []mutants.Edit{
		{"next = min(next, m.turnBehind(r, i))", "next = max(next, 0*m.turnBehind(r, i))"},
	}},
	{Name: "a plan that others do not share stands", By: &dealsSoon, Edits: []mutants.Edit{
		{"if n.Leader != \"\" {", "if n.Leader != \"\" && n.Role == \"\" {"},
	}},
	{Name: "a leader of whom a plan knows nothing is nothing to it", By: &dealsSoon, Edits: []mutants.Edit{
		{"if !in || !ok {\n\t\treturn false\n", "if !in || !ok {\n\t\treturn in\n"},
	}},
	{Name: "a new plan wakes nobody", By: &dealsSoon, Edits: []mutants.Edit{
		{"if to == me && g.picture", "if to == me && to < 0 && g.picture"},
	}},
	{Name: "a plan for each member that joins", By: &fewPlans, Edits: []mutants.Edit{
		{"ok && !g.wrong && !m.outdated(g, i, r.RoleView) {", "g.wrong || ok && !m.outdated(g, i, r.RoleView) {"},
	}},
	{Name: "no admission", By: &admits, Edits: []mutants.Edit{
		{"if !m.count(r).Admits(m.cfg.MaxRoles, q.balance, quota) || m.clashes(r) {", "if false {"},
	}},
	{Name: "no count of promises", By: &admits, Edits: []mutants.Edit{
		{"\t\tif r := m.part(name); r != nil && r.term == nil && r.claim == nil {", "\t\tif r := m.part(name); r == nil {"},
		{"case r.claim != nil || m.spread.promises.Holds(m.now.Observer, r.Name):", "case r.claim != nil:"},
	}},
	{Name: "a promise ends while the work drains", By: &promised, Edits: []mutants.Edit{
		{"\tm.remind(r)\n", ""},
	}},
	{Name: "a promise for work that is stuck never ends", By: &promised, Edits: []mutants.Edit{
		{"if t.next == \"\" || t.drained || t.stuck ||", "if t.next == \"\" || t.drained ||"},
	}},
	{Name: "a promise lasts into a later session", By: &promised, Edits: []mutants.Edit{
		{"\t\tt.agreed != m.sessionOf(t.next) {\n", "\t\tfalse {\n"},
	}},
	{Name: "what was given to one that is unable is not dealt out", By: &unable, Edits: []mutants.Edit{
		{
			"Candidacy(r.Name); !said.Eligible {\n\t\treturn nil\n",
			"Candidacy(r.Name); !said.Eligible && r == nil {\n\t\treturn nil\n",
		},
	}},
	{Name: "a role is given to one that is unable", By: &unable, Edits: []mutants.Edit{
		{
			"if _, ok := m.view.Contender(m.now.Observer, r.Name, p); !ok {\n\t\treturn \"\"\n",
			"if r == nil {\n\t\treturn \"\"\n",
		},
	}},
	{Name: "a promise lasts although we are unable", By: &unable, Edits: []mutants.Edit{
		{"!eligible && m.spread.promises.Holds(now, r.Name) {", "now < 0 {"},
	}},
	{Name: "no projected load", By: &evenly, Edits: []mutants.Edit{
		{
			"\t\tif m != Nobody {\n\t\t\tp.put(r, m)\n",
			"\t\tif m != Nobody {\n\t\t\tp.put(r, m)\n\t\t\tp.load[m]--\n",
		},
	}},
	{Name: "no cap", By: &evenly, Edits: []mutants.Edit{
		{"if m.cfg.MaxRoles == 0 || m.load(r) < m.cfg.MaxRoles {", "if m.cfg.MaxRoles >= 0 {"},
	}},
	{Name: "room that was made is not used", By: &findsRoom, Edits: []mutants.Edit{
		{"r.turned, m.spread.turned = true, true", "r.turned, m.spread.turned = true, false"},
	}},
	{Name: "nothing is apart", By: &evenly, Edits: []mutants.Edit{
		{"if from := p.at[r]; from != Nobody && p.clashes(r, from) {", "if from := p.at[r]; from < Nobody {"},
		{
			"m := p.choose(r, func(m int) bool { return !p.clashes(r, m) })",
			"m := p.choose(r, func(m int) bool { return m >= 0 })",
		},
	}},
	{Name: "no settling", By: &evenly, Edits: []mutants.Edit{
		{"g.settled = min(now.Add(rest), end)", "g.settled = min(now, end)"},
	}},
	{Name: "all who come unsettle a group", By: &settles, Edits: []mutants.Edit{
		{"if p != nil && spread.In(p.Member, g.name) ||", "if p != nil ||"},
	}},
	{Name: "a group never settles while members come", By: &settles, Edits: []mutants.Edit{
		{"g.settled = min(now.Add(rest), end)", "g.settled = max(now.Add(rest), 0*end)"},
	}},
	{Name: "a target that declines hides a better candidate", By: &takesOver, Edits: []mutants.Edit{
		{"\tr.term.handover.rival = rival\n\tm.touchRole(r.RoleView)\n", "\tr.term.handover.rival = rival\n"},
	}},
	{Name: "a role that was left and joined again is moved for ever", By: &goesOn, Edits: []mutants.Edit{
		{"if r = r.Notes.mine; r == nil || r.group != g || r.term == nil {", "if r.term == nil {"},
	}},
	{Name: "a plan does not see what others lead", By: &follows, Edits: []mutants.Edit{
		{"\t\tg.stale = true\n\t}\n}\n", "\t\tg.stale = g.stale || g.wrong\n\t}\n}\n"},
	}},
	{Name: "no rest", By: &evenly, Edits: []mutants.Edit{
		{"r.Notes.rests = t.began.Add(m.cfg.TTL)", "r.Notes.rests = t.began"},
	}},
	{Name: "a role that was moved rests for one term", By: &restsOn, Edits: []mutants.Edit{
		{"\tif c.handed {\n", "\tr.Notes.rests = 0\n\tif c.handed {\n"},
	}},
	{Name: "all claim what falls vacant", By: &evenly, Edits: []mutants.Edit{
		{"return m.cfg.Heartbeat + m.queue(rank, all) + min(", "return m.queue(rank, all) + 0*min("},
	}},
}
