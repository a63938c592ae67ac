package sim

const core = "internal/protocol/"

var mutants = []mutant{
	{name: "no margin", edits: []edit{
		{core + "config.go", "\t\treturn c.Margin\n", "\t\treturn 0\n"},
		{core + "heartbeat.go", "m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin)", "m.lease.seenShort.Add(m.cfg.TTL)"},
	}},
	{name: "claim on the timer without the kill", edits: []edit{
		{core + "kill.go", "\t\tdefault:\n\t\t\tm.kill(p)\n", "\t\tdefault:\n\t\t\tfor _, r := range p.holds {\n\t\t\t\tm.touchRole(r)\n\t\t\t}\n\t\t\tif p == m.self {\n\t\t\t\tm.kill(p)\n\t\t\t}\n"},
		{
			core + "claim.go", "if v.Dead(rv.Role.Holder(), rv.Role.Session) {",
			"if p := v.peer(rv.Role.Holder()); v.Dead(rv.Role.Holder(), rv.Role.Session) || p.Form == FormRecord && m.now.Observer.Sub(p.Seen) > p.Lease.TTL() {",
		},
	}},
	{name: "markers are death", edits: []edit{
		{core + "view.go", "if l == nil || l.Form != FormRecord {\n\t\treturn false", "if l == nil || l.Form != FormRecord {\n\t\treturn l != nil && l.Form == FormMarker"},
	}},
	{name: "no watch clause", edits: []edit{
		{core + "heartbeat.go", "return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
	}},
	{name: "no wait after a forced vacancy", edits: []edit{
		{core + "claim.go", "return rv.Seen.Add(rv.Role.TTL()), true", "return rv.Seen, true"},
	}},
	{name: "neither the watch clause nor the wait", edits: []edit{
		{core + "heartbeat.go", "return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
		{core + "claim.go", "return rv.Seen.Add(rv.Role.TTL()), true", "return rv.Seen, true"},
	}},
	{name: "no wait for a lost record", edits: []edit{
		{core + "claim.go", "return v.lostUntil(rv), true", "return rv.Seen, true"},
	}},
	{name: "a lost lease counts for nothing", edits: []edit{
		{core + "view.go", "return max(r.Seen.Add(ttl), min(r.Seen.Add(v.MaxTTL), v.unread))", "return r.Seen.Add(ttl)"},
	}},
	{name: "one beat number for all attempts", edits: []edit{
		{core + "heartbeat.go", "\tl.beat++\n", "\tif l.acked == l.beat {\n\t\tl.beat++\n\t} else {\n\t\tl.attempts = slices.DeleteFunc(l.attempts, func(a attempt) bool { return a.beat == l.beat })\n\t}\n"},
	}},
	{name: "no nonce", edits: []edit{
		{core + "machine.go", "m.lease.nonce, m.lease.seenShort = cfg.NewID(), longAgo", "m.lease.nonce, m.lease.seenShort = cfg.Instance, longAgo"},
		{core + "open.go", "nonce: m.cfg.NewID(), seenShort", "nonce: m.cfg.Instance, seenShort"},
	}},
	{name: "no sweep", edits: []edit{
		{core + "role.go", "\t\t\tm.sweep(rv)\n", "\t\t\t_ = m.sweep\n"},
	}},
	{name: "no short beat before a claim", edits: []edit{
		{core + "heartbeat.go", "return m.believes() && m.lease.awake() && !m.disconnected()", "return m.phase == open && m.now.Holder < m.lease.deadline"},
	}},
	{name: "an idle beat of unknown outcome is forgotten", edits: []edit{
		{core + "heartbeat.go", "return l.short && l.acked > l.idled }", "return l.short && l.idled < l.beat }"},
	}},
	{name: "an idle session is ended for what a former one held", edits: []edit{
		{core + "kill.go", "if !m.view.Dead(p.Peer, r.Role.Session) {", "if true {"},
	}},
	{name: "both of them", edits: []edit{
		{core + "heartbeat.go", "return l.short && l.acked > l.idled }", "return l.short && l.idled < l.beat }"},
		{core + "kill.go", "if !m.view.Dead(p.Peer, r.Role.Session) {", "if true {"},
	}},
	{name: "work is begun under an idle lease", edits: []edit{
		{core + "heartbeat.go", "return m.phase == open && m.believes() && m.lease.awake()", "return m.phase == open && m.believes()"},
	}},
	{name: "a lease is idle while its session works", edits: []edit{
		{core + "idle.go", " || m.busy || m.closing.asked", " || m.closing.asked"},
	}},
	{name: "closed while it works", edits: []edit{
		{core + "close.go", "\tcase m.busy:\n\t\tm.finish(nil)\n", ""},
	}},
	{name: "a worker's lease is not waited for to its end", edits: []edit{
		{core + "kill.go", "\t\treturn p.Lease.TTL()\n\t}\n\tlongest", "\t\tif p.Peer.Class == Worker {\n\t\t\treturn p.Lease.TTL() / 2\n\t\t}\n\t\treturn p.Lease.TTL()\n\t}\n\tlongest"},
	}},
	{name: "no confirmation before a hand-over", edits: []edit{
		{core + "handover.go", "\th := &r.term.handover\n\th.target, h.cause", "\tif true {\n\t\tif command != 0 {\n\t\t\tr.term.waiting = append(r.term.waiting, command)\n\t\t}\n\t\tm.endTerm(r, cause, target)\n\t\treturn\n\t}\n\th := &r.term.handover\n\th.target, h.cause"},
	}},
	{name: "neither liveness nor confirmation before a hand-over", edits: []edit{
		{core + "handover.go", "\th := &r.term.handover\n\th.target, h.cause", "\tif true {\n\t\tif command != 0 {\n\t\t\tr.term.waiting = append(r.term.waiting, command)\n\t\t}\n\t\tm.endTerm(r, cause, target)\n\t\treturn\n\t}\n\th := &r.term.handover\n\th.target, h.cause"},
		{core + "succession.go", "!said.Eligible || p.Member.Draining || !p.Belongs() || !p.Active(now)", "!said.Eligible"},
	}},
	{name: "trust counts from the reply", edits: []edit{
		{core + "heartbeat.go", "l.deadline = a.sent.Add(", "l.deadline = m.now.Holder.Add("},
		{core + "heartbeat.go", "max(l.seenShort, l.attempts[i].sent)", "max(l.seenShort, m.now.Holder)"},
	}},
	{name: "kill without compare-and-swap", edits: []edit{
		{"propertytests/sim/store.go", "if s.last(key) != expect {", "if s.last(key) != expect && !strings.Contains(string(w.Value), `\"killed\"`) {"},
		{"propertytests/sim/store.go", "\t\"slices\"\n", "\t\"slices\"\n\t\"strings\"\n"},
	}},
	{name: "vacate without compare-and-swap", edits: []edit{
		{"propertytests/sim/store.go", "if s.last(key) != expect {", "if s.last(key) != expect && !strings.Contains(string(w.Value), `\"vacant\"`) {"},
		{"propertytests/sim/store.go", "\t\"slices\"\n", "\t\"slices\"\n\t\"strings\"\n"},
	}},
	{name: "unknown is refused", edits: []edit{
		{core + "heartbeat.go", "\t\tm.unknown(&l.retry, \"heartbeat\", \"\")\n", "\t\tl.attempts = slices.DeleteFunc(l.attempts, func(a attempt) bool { return a.beat == p.beat })\n\t\tm.unknown(&l.retry, \"heartbeat\", \"\")\n"},
	}},
	{name: "unknown is won: a beat", edits: []edit{
		{core + "heartbeat.go", "\t\tm.unknown(&l.retry, \"heartbeat\", \"\")\n", "\t\tl.deadline = p.at.Add(m.cfg.TTL - m.cfg.Margin)\n\t\tl.seenShort = p.at\n\t\tm.unknown(&l.retry, \"heartbeat\", \"\")\n"},
	}},
	{name: "unknown is won: a claim", edits: []edit{
		{core + "claim.go", "\t\tm.unknown(&rv.task.retry, \"claim\", rv.Name)\n", "\t\tif r := rv.task.mine; r != nil && r.claim != nil && r.term == nil {\n\t\t\tc := r.claim\n\t\t\tm.endClaim(r)\n\t\t\tm.beginTerm(r, c)\n\t\t}\n"},
	}},
	{name: "acting before the snapshot is complete", edits: []edit{
		{core + "machine.go", "m.view.BeginWatch(w, m.self.Peer)\n", "m.view.BeginWatch(w, m.self.Peer); m.view.complete = true; if m.phase == syncing { m.phase = opening }\n"},
	}},
	{name: "given away before the drain", edits: []edit{
		{core + "term.go", "if t.drained || t.stuck && r.cfg.VacateUndrained {", "if t != nil {"},
	}},
	{name: "led again before the drain", edits: []edit{
		{core + "term.go", "if t.drained && t.given {", "if t.given {"},
	}},
	{name: "one session number for ever", edits: []edit{
		{core + "open.go", "m.lease.number = rev", "m.lease.number = 1000"},
	}},
	{name: "the wait does not start anew", edits: []edit{
		{core + "merge.go", "p.Revision, p.Form, p.Lease, p.Seen = e.Revision, e.Form, e.Lease, now", "if !same {\n\t\tp.Seen = now\n\t}\n\tp.Revision, p.Form, p.Lease = e.Revision, e.Form, e.Lease"},
	}},
	{name: "views go back", edits: []edit{
		{core + "merge.go", "return revision < known || revision == known && form != FormMissing", "return revision == known && form != FormMissing"},
	}, unit: true},
	{name: "the last record read was the last one written", edits: []edit{
		{core + "view.go", "ttl = max(ttl, p.Lease.TTL())", "_ = p"},
	}},
	{name: "our own writes are missing in a lagging snapshot", edits: []edit{
		{core + "merge.go", "v.last, r.gen = max(v.last, e.Revision), v.gen", "v.last = max(v.last, e.Revision)"},
	}, unit: true},
	{name: "peers are remembered for ever", edits: []edit{
		{core + "view.go", "	if v.peers[p.Peer] == p {", "	if v.peers[p.Peer] == nil {"},
	}, unit: true},
	{name: "an unknown shorter beat does not shorten belief", edits: []edit{
		{core + "heartbeat.go", "l.deadline = min(l.deadline, m.now.Holder.Add(ttl-m.cfg.margin(ttl)))", "_ = ttl"},
	}},
	{name: "a rotation is not adopted", edits: []edit{
		{core + "rotate.go", "t.epoch, t.token, t.rotating = r.Revision, t.rotating, \"\"", "t.epoch, t.rotating = r.Revision, \"\""},
	}},
	{name: "heartbeats for every event", edits: []edit{
		{core + "heartbeat.go", "if urgent || m.now.Holder >= l.nextBeat {", "if urgent || l.short || m.now.Holder >= l.nextBeat {"},
	}},
	{name: "a write that wins below what was known proves nothing", edits: []edit{
		{core + "write.go", "if w.Revision <= p.known {", "if p.known == 1<<64-1 {"},
	}},
	{name: "the last revision of a bucket proves nothing", edits: []edit{
		{core + "merge.go", "if w.Last < w.Known {", "if w.Last == 1<<64-1 {"},
	}},
	{name: "a key that goes back proves nothing", edits: []edit{
		{core + "merge.go", "case e.Revision < known:", "case e.Revision > known:"},
	}, unit: true},
	{name: "an acknowledgement that was faster than the watch proves a loss", edits: []edit{
		{core + "merge.go", "if known <= v.known {", "if true {"},
	}, unit: true},
	{name: "on replicas a doubt is proof at once", edits: []edit{
		{core + "wentback.go", "v.wentBack || v.begun >= v.doubt.due()", "true"},
	}, unit: true},
	{name: "on replicas nothing is ever proof", edits: []edit{
		{core + "wentback.go", "v.wentBack || v.begun >= v.doubt.due()", "v.wentBack"},
	}, unit: true},
	{name: "what a replica lacks that was learnt since proves a loss", edits: []edit{
		{core + "wentback.go", "if known <= v.doubt.known {", "if true {"},
	}, unit: true},
	{name: "a doubt never ends", edits: []edit{
		{core + "wentback.go", "	default:\n\t\tv.doubt = doubt{}\n", ""},
	}, unit: true},
	{name: "a claim that the watch shows below what was known counts", edits: []edit{
		{core + "wentback.go", "r.task.token == e.Role.Token && e.Revision <= r.task.known", "false"},
	}, unit: true},
	{name: "a beat that the watch shows below what was known counts", edits: []edit{
		{core + "wentback.go", "a.beat == e.Lease.Beat && e.Revision <= a.known", "false"},
	}, unit: true},
	{name: "a revision that is given again is the known one", edits: []edit{
		{core + "merge.go", "e.Revision == known && v.otherwise(e)", "e.Revision == known && false"},
	}, unit: true},
	{name: "refusals are tried again at once", edits: []edit{
		{core + "write.go", "r.after, r.refused = m.now.Observer.Add(explainTime), true", "r.after, r.refused = 0, false"},
	}},
}
