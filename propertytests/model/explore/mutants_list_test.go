package explore

import (
	"strings"

	"github.com/rolemanager/rolemanager/propertytests/campaign/mutants"
)

// Not here are rules whose absence takes more faults at once than these configurations have: that
// trust counts from the sending (the watch has to stall, the answer to be late, and the process to
// pause), that every attempt at a beat has a number of its own, that a worker which is not heard is
// not dead. The simulations miss them.
var electionMutants = []mutants.Mutant{
	{Name: "no margin", By: inElections("drift"), Edits: []mutants.Edit{
		{"\t\treturn c.Margin\n", "\t\treturn 0\n"},
		{"m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin)", "m.lease.seenShort.Add(m.cfg.TTL)"},
	}},
	{Name: "half a margin", By: inElections("drift"), Edits: []mutants.Edit{
		{"\t\treturn c.Margin\n", "\t\treturn c.Margin / 2\n"},
		{"m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin)", "m.lease.seenShort.Add(m.cfg.TTL - m.cfg.Margin/2)"},
	}},
	{Name: "claim on the timer without the kill", By: inElections("one fault"), Edits: []mutants.Edit{
		{
			"\t\tdefault:\n\t\t\tm.kill(p)\n",
			"\t\tdefault:\n\t\t\tfor _, r := range p.Holds {\n\t\t\t\tm.touchRole(r)\n\t\t\t}\n\t\t\tif p == m.self {\n" +
				"\t\t\t\tm.kill(p)\n\t\t\t}\n",
		},
		{
			"if v.Dead(rv.Role.Holder(), rv.Role.Session) {",
			"if p := v.Peer(rv.Role.Holder()); v.Dead(rv.Role.Holder(), rv.Role.Session) || p.Form == record.FormRecord && " +
				"m.now.Observer.Sub(p.Seen) > p.Lease.TTL() {",
		},
	}},
	{Name: "markers are death", By: inElections("one fault"), Edits: []mutants.Edit{
		{
			"if l == nil || l.Form != record.FormRecord {\n\t\treturn false",
			"if l == nil || l.Form != record.FormRecord {\n\t\treturn l != nil && l.Form == record.FormMarker",
		},
	}},
	{
		Name: "neither the watch clause nor the wait after a forced vacancy", By: inElections("two faults"),
		Edits: []mutants.Edit{
			{"return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
			{"return rv.Seen.Add(rv.Role.TTL()), true", "return rv.Seen, true"},
		},
	},
	{Name: "no wait after a forced vacancy", By: inElections("one fault"), Edits: []mutants.Edit{
		{"return rv.Seen.Add(rv.Role.TTL()), true", "return rv.Seen, true"},
	}},
	{Name: "no watch clause", By: inElections("blind and evicted"), Edits: []mutants.Edit{
		{"return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
	}},
	{Name: "no wait for a lost record", By: inElections("one fault"), Edits: []mutants.Edit{
		{"return v.LostUntil(rv), true", "return rv.Seen, true"},
	}},
	{Name: "kill without compare-and-swap", By: inElections("late kill"), Edits: []mutants.Edit{
		{"if b.revision(l.on) != l.at {", "if b.revision(l.on) != l.at && l.data.Lease.State != record.Killed {"},
	}},
	{Name: "vacate without compare-and-swap", By: inElections("late vacate"), Edits: []mutants.Edit{
		{"if b.revision(l.on) != l.at {", "if b.revision(l.on) != l.at && !l.data.Role.Vacant {"},
	}},
	{Name: "unknown is won: a beat", By: inElections("drift, delays and a pause"), Edits: []mutants.Edit{
		{
			"\t\tl.nextBeat = m.now.Holder // the retry",
			"\t\tl.deadline = p.at.Add(m.cfg.TTL - m.cfg.Margin)\n\t\tl.seenShort = p.at\n" +
				"\t\tl.nextBeat = m.now.Holder // the retry",
		},
	}},
	{Name: "unknown is won: a claim", By: inElections("late vacate"), Edits: []mutants.Edit{
		{
			"\t\tm.unknown(&rv.Notes.retry, \"claim\", rv.Name)\n",
			"\t\tif r := rv.Notes.mine; r != nil && r.claim != nil && r.term == nil {\n\t\t\tc := r.claim\n" +
				"\t\t\tm.endClaim(r)\n\t\t\tm.beginTerm(r, c)\n\t\t}\n",
		},
	}},
	{Name: "acting before the snapshot is complete", By: inElections("starting"), Edits: []mutants.Edit{
		{
			"m.view.BeginWatch(view.Watch(w), m.self.Peer)\n",
			"m.view.BeginWatch(view.Watch(w), m.self.Peer); if m.phase == syncing { m.phase = opening }\n",
		},
		{"\tv.gen++\n", "\tv.gen++\n\tv.complete = true\n"},
	}},
	{Name: "given away before the drain", By: inElections("one fault"), Edits: []mutants.Edit{
		{"if t.drained || t.stuck && r.undrained {", "if t != nil {"},
	}},
	{Name: "led again before the drain", By: inElections("slow drain"), Edits: []mutants.Edit{
		{"if t.drained && t.given {", "if t.given {"},
	}},
	{Name: "one session number for ever", By: inElections("one fault"), Edits: []mutants.Edit{
		{"m.lease.number = rev", "m.lease.number = 1<<40 + 1"},
	}},
	{Name: "the wait does not start again", By: inElections("starting"), Edits: []mutants.Edit{
		{
			"p.Revision, p.Seen, p.denied = e.Revision, now, false",
			"if !same {\n\t\tp.Seen = now\n\t}\n\tp.Revision, p.denied = e.Revision, false",
		},
	}},
	{Name: "an idle beat of unknown outcome is forgotten", By: inElections("former session"), Edits: []mutants.Edit{
		{"return l.short && l.acked > l.idled }", "return l.short && l.idled < l.beat }"},
	}},
	{Name: "an idle session is ended for what a former one held", By: inElections("former session"), Edits: []mutants.Edit{
		{"if needed < due && !m.view.Dead(p.Peer, r.Role.Session) { // who", "if needed < due { // who"},
	}},
	{Name: "an answer that comes twice renews the lease", By: inElections("repeated answers"), Edits: secondAnswer(
		"if w.Outcome == record.Won && w.Revision == m.lease.rev { m.lease.deadline = m.now.Holder.Add(m.cfg.TTL - " +
			"m.cfg.Margin) }",
	)},
	{Name: "an answer that comes twice is of the next beat", By: inElections("repeated answers"), Edits: secondAnswer(
		"if l := &m.lease; w.Outcome == record.Won && w.Revision == l.rev && l.inflight {" +
			" l.deadline = l.attempts[len(l.attempts)-1].sent.Add(m.cfg.TTL - m.cfg.Margin) }",
	)},
	{
		Name: "an answer that comes twice ends the wait for another one", By: inElections("repeated, starting"),
		Edits: secondAnswer(
			"for _, q := range m.writes { if q.role != nil { q.role.Notes.inflight = false; m.touchRole(q.role) } }",
		),
	},
	{Name: "an idle beat that was refused does not stand", By: inElections("repeated to the idle"), Edits: []mutants.Edit{
		{
			"w.Revision\n\t\t}\n\tcase record.Refused:\n\t\tif l.retry =",
			"w.Revision\n\t\t}\n\tcase record.Refused:\n\t\tif p.beat == l.idled {\n\t\t\tl.idled = 0\n\t\t}\n\t\tif l.retry =",
		},
	}},
	{Name: "a request is for whichever term it finds", By: inElections("repeated requests"), Edits: []mutants.Edit{
		{"case epoch != 0 && epoch != r.term.epoch:", "case false:"},
	}},
	{Name: "no cap", By: inElections("two roles, spread, one for each member"), Edits: []mutants.Edit{
		{"if m.cfg.MaxRoles == 0 || m.load(r) < m.cfg.MaxRoles {", "if m.cfg.MaxRoles >= 0 {"},
	}},
	{Name: "a rotation is not adopted", By: inElections("rotation"), Edits: []mutants.Edit{
		{"t.epoch, t.token, t.rotating = r.Revision, t.rotating, \"\"", "t.epoch, t.rotating = r.Revision, \"\""},
	}},
}

// secondAnswer is what the core does with an answer to a write that it does not wait for.
func secondAnswer(does string) []mutants.Edit {
	const ignored = "\tif !ok {\n\t\treturn\n\t}\n\tdelete(m.writes, w.ID)\n"
	return []mutants.Edit{{ignored, strings.Replace(ignored, "return", does+"\n\t\treturn", 1)}}
}

var taskMutants = []mutants.Mutant{
	{Name: "hand out before everybody has answered", By: inTasks("one task"), Edits: []mutants.Edit{
		{"return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"},
	}},
	{Name: "no seal", By: inTasks("deposed"), Edits: []mutants.Edit{
		{"if w.ledger.sequence(m.on) != m.expect {", "if w.ledger.sequence(m.on) != m.expect && m.record.Kind == seal {"},
	}},
	{Name: "no new seal after an unknown outcome", By: inTasks("one task"), Edits: []mutants.Edit{
		{"\tdefault:\n\t\ts.renewSlowly(w)\n", "\tdefault:\n\t\ts.send(w)\n"},
	}},
	{Name: "nothing remembered of what was answered", By: inTasks("one task"), Edits: []mutants.Edit{
		{"if v, known := w.memory[a.Serial]; known {", "if v, known := w.memory[a.Serial]; known && v == 0 {"},
	}},
	{Name: "no low-water mark", By: inTasks("repeated"), Edits: []mutants.Edit{
		{"\tif a.Serial <= w.low {\n\t\treturn tasks.Replayed\n\t}\n", ""},
	}},
	{Name: "no session in the audience", By: inTasks("crashed"), Edits: []mutants.Edit{
		{" || v.Session != a.Session", ""},
	}},
	{Name: "frames of earlier epochs are believed", By: inTasks("deposed"), Edits: []mutants.Edit{
		{"a.Epoch == 0 || v.Epoch != a.Epoch || ", ""},
	}},
	{Name: "a stale epoch means that it does not run", By: inTasks("stale"), Edits: []mutants.Edit{
		{"case Full, UnknownKind,", "case StaleEpoch, Full, UnknownKind,"},
	}},
	{Name: "a result is reported once only", By: inTasks("one task"), Edits: []mutants.Edit{
		{"\tfor i := range w.members {\n\t\tx.report(w, i)\n\t}\n\treturn nil\n", "\treturn nil\n"},
	}},
	{Name: "an outcome is accepted whatever its attempt", By: inTasks("repeated"), Edits: []mutants.Edit{
		{
			"case !t.with(e.Session, e.Attempt):\n\t\ts.stale(e.Ref, t.policy.Kind, \"attempt\")\n\tdefault:",
			"case t.phase != pushed && t.phase != running:\n\t\ts.stale(e.Ref, t.policy.Kind, \"attempt\")\n\tdefault:",
		},
	}},
	{Name: "no seal more for what a reading has missed", By: inTasks("written again"), Edits: []mutants.Edit{
		{"missed := l.second && e.Missed != 0 && e.Missed <= l.from", "missed := false"},
	}},
	{Name: "a record that was passed over leaves no gap", By: inTasks("written again"), Edits: []mutants.Edit{
		{"\t\tr.now.skip(r.last+1, revision)\n", ""},
	}},
}
