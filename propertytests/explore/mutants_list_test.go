package explore

import "strings"

const (
	core  = "internal/protocol/"
	world = "propertytests/explore/elections/"
	rules = "internal/protocol/tasks/"
	place = "propertytests/explore/assignment/"
)

// Not here are rules whose absence takes more faults at once than these configurations have: that trust counts from the
// sending (the watch has to stall, the answer to be late, and the process to pause), that every attempt at a beat has a number
// of its own, that a worker which is not heard is not dead. The simulations miss them.
var electionMutants = []mutant{
	{"no margin", "drift", []edit{
		{core + "config.go", "\t\treturn c.Margin\n", "\t\treturn 0\n"},
		{core + "heartbeat.go", "m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin)", "m.lease.seenShort.Add(m.cfg.TTL)"},
	}},
	{"half a margin", "drift", []edit{
		{core + "config.go", "\t\treturn c.Margin\n", "\t\treturn c.Margin / 2\n"},
		{core + "heartbeat.go", "m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin)", "m.lease.seenShort.Add(m.cfg.TTL - m.cfg.Margin/2)"},
	}},
	{"claim on the timer without the kill", "one fault", []edit{
		{core + "kill.go", "\t\tdefault:\n\t\t\tm.kill(p)\n", "\t\tdefault:\n\t\t\tfor _, r := range p.holds {\n\t\t\t\tm.touchRole(r)\n\t\t\t}\n\t\t\tif p == m.self {\n\t\t\t\tm.kill(p)\n\t\t\t}\n"},
		{
			core + "claim.go", "if v.Dead(rv.Role.Holder(), rv.Role.Session) {",
			"if p := v.peer(rv.Role.Holder()); v.Dead(rv.Role.Holder(), rv.Role.Session) || p.Form == FormRecord && m.now.Observer.Sub(p.Seen) > p.Lease.TTL() {",
		},
	}},
	{"markers are death", "one fault", []edit{
		{core + "view.go", "if l == nil || l.Form != FormRecord {\n\t\treturn false", "if l == nil || l.Form != FormRecord {\n\t\treturn l != nil && l.Form == FormMarker"},
	}},
	{"neither the watch clause nor the wait after a forced vacancy", "two faults", []edit{
		{core + "heartbeat.go", "return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
		{core + "claim.go", "return rv.Seen.Add(rv.Role.TTL()), true", "return rv.Seen, true"},
	}},
	{"no wait after a forced vacancy", "one fault", []edit{
		{core + "claim.go", "return rv.Seen.Add(rv.Role.TTL()), true", "return rv.Seen, true"},
	}},
	{"no watch clause", "blind and evicted", []edit{
		{core + "heartbeat.go", "return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
	}},
	{"no wait for a lost record", "one fault", []edit{
		{core + "claim.go", "return v.lostUntil(rv), true", "return rv.Seen, true"},
	}},
	{"kill without compare-and-swap", "two faults", []edit{
		{world + "bucket.go", "if b.revision(l.on) != l.at {", "if b.revision(l.on) != l.at && l.data.Lease.State != protocol.Killed {"},
	}},
	{"vacate without compare-and-swap", "late vacate", []edit{
		{world + "bucket.go", "if b.revision(l.on) != l.at {", "if b.revision(l.on) != l.at && !l.data.Role.Vacant {"},
	}},
	{"unknown is won: a beat", "drift, delays and a pause", []edit{
		{core + "heartbeat.go", "\t\tm.unknown(&l.retry, \"heartbeat\", \"\")\n", "\t\tl.deadline = p.at.Add(m.cfg.TTL - m.cfg.Margin)\n\t\tl.seenShort = p.at\n\t\tm.unknown(&l.retry, \"heartbeat\", \"\")\n"},
	}},
	{"unknown is won: a claim", "late vacate", []edit{
		{core + "claim.go", "\t\tm.unknown(&rv.task.retry, \"claim\", rv.Name)\n", "\t\tif r := rv.task.mine; r != nil && r.claim != nil && r.term == nil {\n\t\t\tc := r.claim\n\t\t\tm.endClaim(r)\n\t\t\tm.beginTerm(r, c)\n\t\t}\n"},
	}},
	{"acting before the snapshot is complete", "starting", []edit{
		{core + "machine.go", "m.view.BeginWatch(w, m.self.Peer)\n", "m.view.BeginWatch(w, m.self.Peer); m.view.complete = true; if m.phase == syncing { m.phase = opening }\n"},
	}},
	{"given away before the drain", "one fault", []edit{
		{core + "term.go", "if t.drained || t.stuck && r.cfg.VacateUndrained {", "if t != nil {"},
	}},
	{"led again before the drain", "slow drain", []edit{
		{core + "term.go", "if t.drained && t.given {", "if t.given {"},
	}},
	{"one session number for ever", "one fault", []edit{
		{core + "open.go", "m.lease.number = rev", "m.lease.number = 1<<40 + 1"},
	}},
	{"the wait does not start anew", "starting", []edit{
		{core + "merge.go", "p.Revision, p.Form, p.Lease, p.Seen = e.Revision, e.Form, e.Lease, now", "if !same {\n\t\tp.Seen = now\n\t}\n\tp.Revision, p.Form, p.Lease = e.Revision, e.Form, e.Lease"},
	}},
	{"an idle beat of unknown outcome is forgotten", "former session", []edit{
		{core + "heartbeat.go", "return l.short && l.acked > l.idled }", "return l.short && l.idled < l.beat }"},
	}},
	{"an idle session is ended for what a former one held", "former session", []edit{
		{core + "kill.go", "if !m.view.Dead(p.Peer, r.Role.Session) {", "if true {"},
	}},
	{"an answer that comes twice renews the lease", "repeated answers", secondAnswer(
		"if w.Outcome == Won && w.Revision == m.lease.rev { m.lease.deadline = m.now.Holder.Add(m.cfg.TTL - m.cfg.Margin) }",
	)},
	{"an answer that comes twice is of the next beat", "repeated answers", secondAnswer(
		"if l := &m.lease; w.Outcome == Won && w.Revision == l.rev && l.inflight {" +
			" l.deadline = l.attempts[len(l.attempts)-1].sent.Add(m.cfg.TTL - m.cfg.Margin) }",
	)},
	{"an answer that comes twice ends the wait for another one", "repeated, starting", secondAnswer(
		"for _, q := range m.writes { if q.role != nil { q.role.task.inflight = false; m.touchRole(q.role) } }",
	)},
	{"an idle beat that was refused does not stand", "repeated to the idle", []edit{
		{core + "heartbeat.go", "\tcase Refused:\n\t\tif l.retry =", "\tcase Refused:\n\t\tif p.beat == l.idled {\n\t\t\tl.idled = 0\n\t\t}\n\t\tif l.retry ="},
	}},
	{"a request is for whichever term it finds", "repeated requests", []edit{
		{core + "handover.go", "case epoch != 0 && epoch != r.term.epoch:", "case false:"},
	}},
	{"a rotation is not adopted", "rotation", []edit{
		{core + "rotate.go", "t.epoch, t.token, t.rotating = r.Revision, t.rotating, \"\"", "t.epoch, t.rotating = r.Revision, \"\""},
	}},
}

// secondAnswer is what the core does with an answer to a write that it does not wait for.
func secondAnswer(does string) []edit {
	const ignored = "\tif !ok {\n\t\treturn\n\t}\n\tdelete(m.writes, w.ID)\n"
	return []edit{{core + "write.go", ignored, strings.Replace(ignored, "return", does+"\n\t\treturn", 1)}}
}

var taskMutants = []mutant{
	{"hand out before everybody has answered", "one task", []edit{
		{rules + "adopt.go", "return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"},
	}},
	{"no seal", "deposed", []edit{
		{place + "worker.go", "if w.ledger.sequence(m.on) != m.expect {", "if w.ledger.sequence(m.on) != m.expect && m.record.Kind == seal {"},
	}},
	{"no new seal after an unknown outcome", "one task", []edit{
		{rules + "write.go", "\tdefault:\n\t\ts.renewSlowly()\n", "\tdefault:\n\t\ts.send(w)\n"},
	}},
	{"nothing remembered of what was answered", "one task", []edit{
		{rules + "worker.go", "if v, known := w.memory[a.Serial]; known {", "if v, known := w.memory[a.Serial]; known && v == 0 {"},
	}},
	{"no low-water mark", "repeated", []edit{
		{rules + "worker.go", "\tif a.Serial <= w.low {\n\t\treturn Replayed\n\t}\n", ""},
	}},
	{"no session in the audience", "crashed", []edit{
		{place + "net.go", "case m.session != me.session, !v.open:", "case !v.open:"},
	}},
	{"frames of earlier epochs are believed", "deposed", []edit{
		{place + "net.go", "\tcase m.epoch != v.epoch:\n", "\tcase m.epoch == 0:\n"},
	}},
	{"a stale epoch means that it does not run", "stale", []edit{
		{rules + "event.go", "case Full, UnknownKind,", "case StaleEpoch, Full, UnknownKind,"},
	}},
	{"a result is reported once only", "one task", []edit{
		{place + "do.go", "\tfor i := range w.members {\n\t\tx.report(w, i)\n\t}\n\treturn nil\n", "\treturn nil\n"},
	}},
	{"an outcome is accepted whatever its attempt", "repeated", []edit{
		{rules + "outcome.go", "case !t.with(e.Session, e.Attempt):", "case t.phase != pushed && t.phase != running:"},
	}},
}
