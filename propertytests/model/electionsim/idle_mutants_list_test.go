package electionsim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// idle is the mutants of what beats beside its lease, and of what others conclude from such beats.
var idle = []mutants.Mutant{
	{Name: "what beats beside its lease may lead", Edits: []mutants.Edit{
		{"l.short && l.acked > l.idled }", "l.short && l.acked > l.idled || l.aside }"},
		{"return min(m.lease.deadline, m.lease.seenShort", "return max(m.lease.deadline, m.lease.seenShort"},
	}},
	{Name: "a lease that stands idle is not renewed", Edits: []mutants.Edit{
		{"if m.standsIdle() && m.now.Holder < l.renewAt {", "if m.standsIdle() {"},
	}},
	{Name: "an idle beat is sent while a write of the lease is open", Edits: []mutants.Edit{
		{"!l.short && l.written == l.acked && p.Form", "!l.short && p.Form"},
	}, By: &beside},
	{Name: "the idle beats of a rival do not count as moves", Edits: []mutants.Edit{
		{"rivalRev && p.IdleBeat() == m.opening.rivalAt {", "rivalRev {"},
	}, By: &beside},
	{Name: "beats of before the watch are signs of a rival's life", Edits: []mutants.Edit{
		{"if rev <= m.opening.begun {", "if rev == 0 {"},
	}, By: &beside},
	{Name: "beats that come at once are signs of a rival's life", Edits: []mutants.Edit{
		{"m.now.Observer < m.opening.movedAt.Add(ttl/movesApart) {", "ttl < 0 {"},
	}, By: &beside},
	{Name: "a rival is ended by a watch that does not show its idle beats", Edits: []mutants.Edit{
		{"v.ownIdle && p == v.self", "p == v.self"},
		{"return m.phase == opening && p.Form == record.FormRecord && p.Lease", "return false && p.Lease"},
	}, By: &beside},
	{Name: "a late idle beat is a sign of life", Edits: []mutants.Edit{
		{" || e.Idle.Beat <= p.beat.number {", " {"},
	}, By: &beside},
	{Name: "a late idle beat decides what its owner trusts", Edits: []mutants.Edit{
		{"if rev == l.rev && !l.short && beat > l.heard {", "if rev == l.rev && !l.short {"},
	}, By: &beside},
	{Name: "an idle beat of another incarnation is a sign of life", Edits: []mutants.Edit{
		{"e.Form != record.FormRecord || e.Idle.Nonce != p.Lease.Nonce ||", "e.Form != record.FormRecord ||"},
	}, By: &beside},
	{Name: "an idle beat beside an earlier lease is a sign of life", Edits: []mutants.Edit{
		{"\t\te.Idle.Lease != p.Revision || e.Idle", "\t\te.Idle"},
	}, By: &beside},
	{Name: "a watch that does not show idle beats judges", Edits: []mutants.Edit{
		{"if v.whole && (v.wide || v.ownIdle && p == v.self) {", "if v.whole {"},
	}},
	{Name: "a part of a watch judges", Edits: []mutants.Edit{
		{"if v.whole && (v.wide || v.ownIdle && p == v.self) {", "if v.wide || v.ownIdle && p == v.self {"},
		{"p == m.self || m.view.Whole() && m.now", "p == m.self || m.now"},
	}, By: &beside},
	{Name: "a refused idle beat ends the session", Edits: []mutants.Edit{
		{
			"m.extend(p.beat, p.stood)\n\tcase record.Refused:\n",
			"m.extend(p.beat, p.stood)\n\tcase record.Refused:\n\t\tm.lose(\"\")\n",
		},
	}, By: &beside},
	{Name: "all end a dead session at once", Edits: []mutants.Edit{
		{"return due.Add(m.rankDelay(p))\n}", "return due\n}"},
	}, By: &beside},
	{Name: "an idle session has been silent since before the watch", Edits: []mutants.Edit{
		{"return max(since, v.wholeSince), ttl, true", "return since, ttl, true"},
	}, By: &beside},
	{Name: "an idle session may be silent for as long as its lease says", Edits: []mutants.Edit{
		{"if ttl = p.Lease.TTL(); p.beat.number > 0 {", "if ttl = p.Lease.TTL(); false {"},
	}, By: &beside},
	{Name: "the next one is named though nobody hears it", Edits: []mutants.Edit{
		{"if p == nil || !m.view.Heard(m.now.Observer, p) {", "if p == nil {"},
	}, By: &beside},
	{Name: "a better candidate that nobody hears is asked", Edits: []mutants.Edit{
		{"if !ok || !m.view.Heard(m.now.Observer, p) {", "if !ok {"},
	}, By: &beside},
	{Name: "a leader never looks at idle beats", Edits: []mutants.Edit{
		{"return m.phase == open && m.leading > 0 && m.view.Idlers() > 0 &&", "return false &&"},
	}},
	{Name: "a session that works is ended when it does not answer", Edits: []mutants.Edit{
		{"\t\tp.Lease.State != record.Idle || p.Session() != u.Session", "\t\tp.Session() != u.Session"},
	}, By: &beside},
	{Name: "the next session is ended for one that did not answer", Edits: []mutants.Edit{
		{"|| p.Session() != u.Session || p.Notes", "|| p.Notes"},
	}, By: &beside},
	{Name: "a session that was ended at rest may have begun something", Edits: []mutants.Edit{
		{"l.Lease.State == record.Killed && l.Lease.AtRest)", "false)"},
	}, By: &beside},
	{Name: "a session that was killed at work had begun nothing", Edits: []mutants.Edit{
		{"l.Lease.State == record.Killed && l.Lease.AtRest)", "l.Lease.State == record.Killed)"},
	}, By: &beside},
	{Name: "a closed session leaves its idle beat", Edits: []mutants.Edit{
		{"case !c.quiet && l.aside:", "case false:"},
	}, By: &beside},
}
