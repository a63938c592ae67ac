package explore

const (
	core  = "internal/protocol/"
	world = "propertytests/explore/elections/"
)

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
	{"no watch clause", "two faults", []edit{
		{core + "heartbeat.go", "return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
	}},
	{"no wait for a lost record", "one fault", []edit{
		{core + "claim.go", "return rv.Seen.Add(v.lostTTL(rv)), true", "return rv.Seen, true"},
	}},
	{"trust counts from the reply", "two faults", []edit{
		{core + "heartbeat.go", "l.deadline = a.sent.Add(", "l.deadline = m.now.Holder.Add("},
		{core + "heartbeat.go", "max(l.seenShort, l.attempts[i].sent)", "max(l.seenShort, m.now.Holder)"},
	}},
	{"kill without compare-and-swap", "two faults", []edit{
		{world + "bucket.go", "if b.revision(l.on) != l.at {", "if b.revision(l.on) != l.at && l.data.Lease.State != protocol.Killed {"},
	}},
	{"vacate without compare-and-swap", "two faults", []edit{
		{world + "bucket.go", "if b.revision(l.on) != l.at {", "if b.revision(l.on) != l.at && !l.data.Role.Vacant {"},
	}},
	{"unknown is won: a beat", "two faults", []edit{
		{core + "heartbeat.go", "\t\tm.unknown(&l.retry, \"heartbeat\", \"\")\n", "\t\tl.deadline = p.at.Add(m.cfg.TTL - m.cfg.Margin)\n\t\tl.seenShort = p.at\n\t\tm.unknown(&l.retry, \"heartbeat\", \"\")\n"},
	}},
	{"unknown is won: a claim", "starting", []edit{
		{core + "claim.go", "\t\tm.unknown(&rv.task.retry, \"claim\", rv.Name)\n", "\t\tif r := rv.task.mine; r != nil && r.claim != nil && r.term == nil {\n\t\t\tc := r.claim\n\t\t\tm.endClaim(r)\n\t\t\tm.beginTerm(r, c)\n\t\t}\n"},
	}},
	{"acting before the snapshot is complete", "starting", []edit{
		{core + "machine.go", "m.view.BeginWatch(w.Wide, m.self.Peer) }", "m.view.BeginWatch(w.Wide, m.self.Peer); m.view.complete = true; if m.phase == syncing { m.phase = opening } }"},
	}},
	{"given away before the drain", "one fault", []edit{
		{core + "term.go", "if t.drained || t.stuck && r.cfg.VacateUndrained {", "if t != nil {"},
	}},
	{"led again before the drain", "two faults", []edit{
		{core + "term.go", "if t.drained && t.given {", "if t.given {"},
	}},
	{"one session number for ever", "one fault", []edit{
		{core + "open.go", "m.lease.number = rev", "m.lease.number = 1<<40 + 1"},
	}},
	{"the wait does not start anew", "one fault", []edit{
		{core + "merge.go", "p.Revision, p.Form, p.Lease, p.Seen = e.Revision, e.Form, e.Lease, now", "if !same {\n\t\tp.Seen = now\n\t}\n\tp.Revision, p.Form, p.Lease = e.Revision, e.Form, e.Lease"},
	}},
	{"one beat number for all attempts", "two faults", []edit{
		{core + "heartbeat.go", "\tl.beat++\n", "\tif l.acked == l.beat {\n\t\tl.beat++\n\t} else {\n\t\tl.attempts = slices.DeleteFunc(l.attempts, func(a attempt) bool { return a.beat == l.beat })\n\t}\n"},
	}},
	{"a rotation is not adopted", "rotation", []edit{
		{core + "rotate.go", "t.epoch, t.token, t.rotating = r.Revision, t.rotating, \"\"", "t.epoch, t.rotating = r.Revision, \"\""},
	}},
}
