package electionsim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

var all = []mutants.Mutant{
	{Name: "no margin", Edits: []mutants.Edit{
		{"\t\treturn c.Margin\n", "\t\treturn 0\n"},
		{"m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin)", "m.lease.seenShort.Add(m.cfg.TTL)"},
	}},
	{Name: "claim on the timer without the kill", Edits: []mutants.Edit{
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
	{Name: "markers are death", Edits: []mutants.Edit{
		{
			"if l == nil || l.Form != record.FormRecord {\n\t\treturn false",
			"if l == nil || l.Form != record.FormRecord {\n\t\treturn l != nil && l.Form == record.FormMarker",
		},
	}},
	{Name: "no watch clause", Edits: []mutants.Edit{
		{"return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
	}},
	{Name: "no wait after a forced vacancy", Edits: []mutants.Edit{
		{"return rv.Seen.Add(rv.Role.TTL()), true", "return rv.Seen, true"},
	}},
	{Name: "neither the watch clause nor the wait", Edits: []mutants.Edit{
		{"return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))", "return m.lease.deadline"},
		{"return rv.Seen.Add(rv.Role.TTL()), true", "return rv.Seen, true"},
	}},
	{Name: "no wait for a lost record", Edits: []mutants.Edit{
		{"return v.LostUntil(rv), true", "return rv.Seen, true"},
	}},
	{Name: "a lost lease counts for nothing", Edits: []mutants.Edit{
		{"return max(r.Seen.Add(ttl), min(r.Seen.Add(v.MaxTTL), v.unread))", "return r.Seen.Add(ttl)"},
	}},
	{Name: "one beat number for all attempts", Edits: []mutants.Edit{
		{
			"\tl.beat++\n",
			"\tif l.acked == l.beat {\n\t\tl.beat++\n\t} else {\n\t\tl.attempts = slices.DeleteFunc(l.attempts, func(a " +
				"attempt) bool { return a.beat == l.beat })\n\t}\n",
		},
	}},
	{Name: "no nonce", Edits: []mutants.Edit{
		{
			"m.lease.nonce, m.lease.shown, m.lease.seenShort = cfg.NewID(), longAgo, longAgo",
			"m.lease.nonce, m.lease.shown, m.lease.seenShort = cfg.Instance, longAgo, longAgo",
		},
		{"nonce: m.cfg.NewID(), shown", "nonce: m.cfg.Instance, shown"},
	}},
	{Name: "no sweep", Edits: []mutants.Edit{
		{"\t\t\tm.sweep(rv)\n", "\t\t\t_ = m.sweep\n"},
	}},
	{Name: "a process that sees nothing judges", Edits: []mutants.Edit{
		{"case !m.watchedWholeWait(p, from, due):", "case from > due:"},
	}},
	{Name: "no short beat before a claim", Edits: []mutants.Edit{
		{
			"return m.trusted() && m.lease.awake() && !m.disconnected()",
			"return m.phase == open && m.now.Holder < m.lease.deadline",
		},
	}},
	{Name: "an idle beat of unknown outcome is forgotten", Edits: []mutants.Edit{
		{"return l.short && l.acked > l.idled }", "return l.short && l.idled < l.beat }"},
	}},
	{Name: "an idle session is ended for what a former one held", Edits: []mutants.Edit{
		{"if needed < due && !m.view.Dead(p.Peer, r.Role.Session) { // who", "if needed < due { // who"},
	}},
	{Name: "both of them", Edits: []mutants.Edit{
		{"return l.short && l.acked > l.idled }", "return l.short && l.idled < l.beat }"},
		{"if needed < due && !m.view.Dead(p.Peer, r.Role.Session) { // who", "if needed < due { // who"},
	}},
	{Name: "work is begun under an idle lease", Edits: []mutants.Edit{
		{"return m.phase == open && m.trusted() && m.lease.awake()", "return m.phase == open && m.trusted()"},
	}},
	{Name: "a lease is idle while its session works", Edits: []mutants.Edit{
		{" || m.busy || m.closing.asked", " || m.closing.asked"},
	}},
	{Name: "closed while it works", Edits: []mutants.Edit{
		{"\tcase m.busy:\n\t\tm.finish(nil)\n", ""},
	}},
	{Name: "a worker's lease is not waited for to its end", Edits: []mutants.Edit{
		{
			"if due = from.Add(ttl); !told {",
			"if p.Peer.Class == record.Worker {\n\t\tttl /= 2\n\t}\n\tif due = from.Add(ttl); !told {",
		},
	}},
	{Name: "no confirmation before a hand-over", Edits: []mutants.Edit{
		{
			"\th := &r.term.handover\n\th.target, h.cause",
			"\tif true {\n\t\tif command != 0 {\n\t\t\tr.term.waiting = append(r.term.waiting, command)\n\t\t}\n" +
				"\t\tm.endTerm(r, cause, target)\n\t\treturn\n\t}\n\th := &r.term.handover\n\th.target, h.cause",
		},
	}},
	{Name: "neither liveness nor confirmation before a hand-over", Edits: []mutants.Edit{
		{
			"\th := &r.term.handover\n\th.target, h.cause",
			"\tif true {\n\t\tif command != 0 {\n\t\t\tr.term.waiting = append(r.term.waiting, command)\n\t\t}\n" +
				"\t\tm.endTerm(r, cause, target)\n\t\treturn\n\t}\n\th := &r.term.handover\n\th.target, h.cause",
		},
		{"!said.Eligible || p.Member.Draining || !p.Belongs() || !v.Active(now, p)", "!said.Eligible"},
	}},
	{Name: "no liveness before a hand-over", Edits: []mutants.Edit{
		{"!said.Eligible || p.Member.Draining || !p.Belongs() || !v.Active(now, p)", "!said.Eligible"},
	}, By: &beside},
	{Name: "trust counts from the reply", Edits: []mutants.Edit{
		{"l.deadline = a.sent.Add(", "l.deadline = m.now.Holder.Add("},
		{"max(l.seenShort, l.attempts[i].sent)", "max(l.seenShort, m.now.Holder)"},
	}},
	{Name: "kill without compare-and-swap", Edits: []mutants.Edit{
		{
			"if s.last(key) != expect {",
			"if s.last(key) != expect && record.Decode(w.Key, w.Value, 1, w.Delete, MaxTTL).Lease.State != record.Killed {",
		},
	}},
	{Name: "vacate without compare-and-swap", Edits: []mutants.Edit{
		{
			"if s.last(key) != expect {",
			"if s.last(key) != expect && !record.Decode(w.Key, w.Value, 1, w.Delete, MaxTTL).Role.Vacant {",
		},
	}},
	{Name: "unknown is refused", Edits: []mutants.Edit{
		{
			"\t\tl.nextBeat = m.now.Holder // the retry",
			"\t\tl.attempts = slices.DeleteFunc(l.attempts, func(a attempt) bool { return a.beat == p.beat })\n" +
				"\t\tl.nextBeat = m.now.Holder // the retry",
		},
	}},
	{Name: "unknown is won: a beat", Edits: []mutants.Edit{
		{
			"\t\tl.nextBeat = m.now.Holder // the retry",
			"\t\tl.deadline = p.at.Add(m.cfg.TTL - m.cfg.Margin)\n\t\tl.seenShort = p.at\n" +
				"\t\tl.nextBeat = m.now.Holder // the retry",
		},
	}},
	{Name: "unknown is won: a claim", Edits: []mutants.Edit{
		{
			"\tcase record.Unknown:\n\t\tm.unknown(&rv.Notes.retry, \"claim\", rv.Name)\n",
			"\tcase record.Unknown:\n\t\tif r := rv.Notes.mine; r != nil && r.claim != nil && r.term == nil {\n" +
				"\t\t\tc := r.claim\n\t\t\tm.endClaim(r)\n\t\t\tm.beginTerm(r, c)\n\t\t}\n",
		},
	}},
	{Name: "acting before the snapshot is complete", Edits: []mutants.Edit{
		{
			"m.view.BeginWatch(view.Watch(w), m.self.Peer)\n",
			"m.view.BeginWatch(view.Watch(w), m.self.Peer); if m.phase == syncing { m.phase = opening }\n",
		},
		{"\tv.gen++\n", "\tv.gen++\n\tv.complete = true\n"},
	}},
	{Name: "given away before the drain", Edits: []mutants.Edit{
		{"if t.drained || t.stuck && r.undrained {", "if t != nil {"},
	}},
	{Name: "led again before the drain", Edits: []mutants.Edit{
		{"if t.drained && t.given {", "if t.given {"},
	}},
	{Name: "one session number for ever", Edits: []mutants.Edit{
		{"m.lease.number = rev", "m.lease.number = 1000"},
	}},
	{Name: "the wait does not start again", Edits: []mutants.Edit{
		{
			"p.Revision, p.Seen, p.denied = e.Revision, now, false",
			"if !same {\n\t\tp.Seen = now\n\t}\n\tp.Revision, p.denied = e.Revision, false",
		},
	}},
	{Name: "four leases are waited for before a kill", Edits: []mutants.Edit{
		{"if due = from.Add(ttl); !told {", "if due = from.Add(4 * ttl); !told {"},
	}},
	{Name: "a refusal of long ago is waited for", Edits: []mutants.Edit{
		{"\tif explained(p) {\n\t\tt.retry = retry{}", "\tif false {\n\t\tt.retry = retry{}"},
	}},
	{Name: "nobody kills without a delay", Edits: []mutants.Edit{
		{"return m.queue(rank, all)\n", "return m.queue(rank+1, all)\n"},
	}},
	{Name: "nobody claims without a delay", Edits: []mutants.Edit{
		{"return m.queue(rank, all) + handed", "return m.queue(rank+1, all) + handed"},
	}},
	{Name: "whom a role was handed to has a moment, as everybody", Edits: []mutants.Edit{
		{"\t\t\thanded = m.cfg.Heartbeat\n", ""},
	}, By: &beside},
	{Name: "each of many dead costs those behind it a moment", Edits: []mutants.Edit{
		{"if rank < crowd {", "if rank >= 0 {"},
	}, By: &manyDead},
	{Name: "any record of a role that is lost is waited for by L_max", Edits: []mutants.Edit{
		{"\tttl := v.UnreadTTL(r.lastTTL)\n", "\tttl := v.MaxTTL\n"},
	}},
	{Name: "views go back", Edits: []mutants.Edit{
		{
			"return revision < known || revision == known && !gone",
			"return revision == known && !gone",
		},
	}, By: &losses},
	{Name: "the last record read was the last one written", Edits: []mutants.Edit{
		{"ttl = max(ttl, p.Lease.TTL())", "_ = p"},
	}},
	{Name: "our own writes are missing in a lagging snapshot", Edits: []mutants.Edit{
		{"v.last, r.gen = max(v.last, e.Revision), v.gen", "v.last = max(v.last, e.Revision)"},
	}, By: &beside},
	{Name: "peers are remembered for ever", Edits: []mutants.Edit{
		{"	if v.peers[p.Peer] == p {", "	if v.peers[p.Peer] == nil {"},
	}, By: &beside},
	{Name: "an unknown shorter beat does not shorten belief", Edits: []mutants.Edit{
		{"l.deadline = min(l.deadline, m.now.Holder.Add(ttl-m.cfg.margin(ttl)))", "_ = ttl"},
	}},
	{Name: "a rotation is not adopted", Edits: []mutants.Edit{
		{"t.epoch, t.token, t.rotating = r.Revision, t.rotating, \"\"", "t.epoch, t.rotating = r.Revision, \"\""},
	}},
	{Name: "heartbeats for every event", Edits: []mutants.Edit{
		{"if urgent || m.now.Holder >= l.nextBeat {", "if urgent || l.short || m.now.Holder >= l.nextBeat {"},
	}},
	{Name: "a write that wins below what was known proves nothing", Edits: []mutants.Edit{
		{"back := w.Revision <= p.known", "back := p.known == 1<<64-1"},
	}, By: &losses},
	{Name: "the last revision of a bucket proves nothing", Edits: []mutants.Edit{
		{"if w.Last < w.Known {", "if w.Last == 1<<64-1 {"},
	}},
	{Name: "a key that goes back proves nothing", Edits: []mutants.Edit{
		{"case e.Revision < known && known <= v.known:", "case e.Revision > known && known <= v.known:"},
	}, By: &losses},
	{Name: "an acknowledgement that was faster than the watch proves a loss", Edits: []mutants.Edit{
		{"case e.Revision < known && known <= v.known:", "case e.Revision < known:"},
	}, By: &losses},
	{Name: "on replicas a doubt is proof at once", Edits: []mutants.Edit{
		{"v.regressed || v.begun >= v.doubt.due()", "true"},
	}, By: &losses},
	{Name: "on replicas nothing is ever proof", Edits: []mutants.Edit{
		{"v.regressed || v.begun >= v.doubt.due()", "v.regressed"},
	}, By: &losses},
	{Name: "what a replica lacks that was learnt since proves a loss", Edits: []mutants.Edit{
		{"if known <= v.doubt.known {", "if true {"},
	}, By: &beside},
	{Name: "a doubt never ends", Edits: []mutants.Edit{
		{"	default:\n\t\tv.doubt = doubt{}\n", ""},
	}, By: &beside},
	{Name: "a claim that the watch shows below what was known counts", Edits: []mutants.Edit{
		{"r.Notes.token == e.Role.Token && e.Revision <= r.Notes.known", "false"},
	}, By: &losses},
	{Name: "a beat that the watch shows below what was known counts", Edits: []mutants.Edit{
		{"a.beat == e.Lease.Beat && e.Revision <= a.known", "false"},
	}, By: &losses},
	{Name: "a revision that is given again is the known one", Edits: []mutants.Edit{
		{"e.Revision == known && v.differs(e)", "e.Revision == known && false"},
	}, By: &losses},
	{Name: "a revision that is given again under a live watch is the known one", Edits: []mutants.Edit{
		{"e.Revision == known && v.differs(e)", "e.Revision == known && known <= v.known && v.differs(e)"},
	}, By: &beside},
	{Name: "a rotation is not waited for", Edits: []mutants.Edit{
		{"r.term.rotating != \"\" && m.now.Observer < r.term.rotatingSince.Add(m.cfg.TTL-m.cfg.Margin)", "false"},
	}, By: &losses},
	{Name: "a rotation is waited for without end", Edits: []mutants.Edit{
		{
			"r.term.rotating != \"\" && m.now.Observer < r.term.rotatingSince.Add(m.cfg.TTL-m.cfg.Margin)",
			"r.term.rotating != \"\"",
		},
	}, By: &losses},
	{Name: "a watch that is not whole has passed what it has not shown", Edits: []mutants.Edit{
		{"if !m.view.Whole() {\n\t\treturn\n\t}\n\tn := 0\n", "if false {\n\t\treturn\n\t}\n\tn := 0\n"},
		{
			"\tm.view.BeginWatch(view.Watch(w), m.self.Peer)\n",
			"\tm.view.BeginWatch(view.Watch(w), m.self.Peer)\n\tm.expectAll()\n",
		},
	}, By: &beside},
	{Name: "only records of terms that continue are looked for", Edits: []mutants.Edit{
		{
			"rv.Notes.mine != nil && rv.Revision > rv.Delivered",
			"rv.Notes.mine != nil && rv.Notes.mine.term != nil && rv.Notes.mine.term.leading()",
		},
	}, By: &beside},
	{Name: "what a watch has shown of a record that was taken back is not asked for again", Edits: []mutants.Edit{
		{"if rv.Delivered > 0 {", "if false {"},
	}, By: &beside},
	{Name: "what is known of a role goes back for a record that another has replaced", Edits: []mutants.Edit{
		{"u.role.Revision != u.revision:", "false:"},
	}, By: &beside},
	{Name: "a record that the watch has passed stands all the same", Edits: []mutants.Edit{
		{"\t\t\tm.takeBack(u.role)\n", ""},
	}, By: &losses},
	{Name: "what another watch has delivered counts for the present one", Edits: []mutants.Edit{
		{"\t\tr.Delivered = 0\n", "\t\t_ = r\n"},
	}, By: &beside},
	{Name: "a role is claimed while somebody may lead it by a record that is lost", Edits: []mutants.Edit{
		{"return max(since, rv.Waits), ok", "return since, ok"},
	}, By: &losses},
	{Name: "a lost record stands until the watch has come to a later revision", Edits: []mutants.Edit{
		{"m.undelivered[n].revision <= m.view.Delivered(); n++", "m.undelivered[n].revision < m.view.Delivered(); n++"},
	}, By: &beside},
	{Name: "a lost record that is acknowledged late stands", Edits: []mutants.Edit{
		{"\t\tm.takeBackIfOvertaken(p.role, w.Revision)\n", ""},
	}, By: &beside},
	{Name: "our own member record stands though the watch has passed it", Edits: []mutants.Edit{
		{"\tm.takeBackOwnMember()\n", ""},
	}, By: &beside},
	{Name: "a later session of ours that is lost is waited for", Edits: []mutants.Edit{
		{"rv.Role.Session <= m.lease.number:", "true:"},
	}, By: &beside},
	{Name: "a later session of ours that is lost ends the present one again and again", Edits: []mutants.Edit{
		{"case m.view.Last() < rv.Role.Session:", "case false:"},
	}, By: &beside},
	{Name: "a later session of another that is lost is waited for", Edits: []mutants.Edit{
		{"return p.Lease.Alive() || m.view.Whole() && m.lostSession(p) != nil", "return p.Lease.Alive()"},
	}, By: &beside},
	{Name: "a member record is restored as often as it is changed", Edits: []mutants.Edit{
		{"m.now.Observer < o.restoreAt || ", ""},
	}, By: &beside},
	{Name: "what stands at a known revision in another form is the known one", Edits: []mutants.Edit{
		{"	return was != is\n", "	return false\n"},
	}, By: &beside},
	{Name: "a leader put out by force comes back at once", Edits: []mutants.Edit{
		{"\tm.startCoolDown(r)\n", ""},
	}, By: &beside},
	{Name: "a bucket that was recreated is not noticed", Edits: []mutants.Edit{
		{"p.hand(protocol.Broken{Fault: errMadeAgain})", "p.watch()"},
	}},
	{Name: "the next bucket begins where the first one did", Edits: []mutants.Edit{
		{"{ return s.next() }", "{ return firstRevision }"},
	}},
	{Name: "over a key that is missing any expectation holds", Edits: []mutants.Edit{
		{"if s.last(key) != expect {", "if last := s.last(key); last != expect && last != 0 {"},
	}},
	{Name: "our own member record may be missing", Edits: []mutants.Edit{
		{"if m.phase == open && m.self.MemberForm == record.FormMissing {", "if false {"},
	}, By: &beside},
	{Name: "a missing lease is death", Edits: []mutants.Edit{
		{
			"if l == nil || l.Form != record.FormRecord {\n\t\treturn false",
			"if l == nil || l.Form != record.FormRecord {\n\t\treturn l != nil && l.Form == record.FormMissing",
		},
	}, By: &beside},
	{Name: "no wait for a missing record", Edits: []mutants.Edit{
		{
			"\treturn v.LostUntil(rv), true\n",
			"\tif rv.Form == record.FormMissing {\n\t\treturn rv.Seen, true\n\t}\n\treturn v.LostUntil(rv), true\n",
		},
	}, By: &beside},
	{Name: "no patience with a missing lease", Edits: []mutants.Edit{
		{"\tlongest := p.LastTTL\n", "\tif p.Form == record.FormMissing {\n\t\treturn 0\n\t}\n\tlongest := p.LastTTL\n"},
	}, By: &beside},
	{Name: "an answer that comes twice counts twice", Edits: []mutants.Edit{
		{"\tdelete(m.writes, w.ID)\n", ""},
	}},
	{Name: "a guard admits a token that is older", Edits: []mutants.Edit{
		{"return false, &StaleError{Token: t, High: *h}", "return false, nil"},
	}},
	{Name: "the largest token is the last one shown", Edits: []mutants.Edit{
		{"return false, &StaleError{Token: t, High: *h}", "return true, nil"},
	}},
	{Name: "the largest token is the first one shown", Edits: []mutants.Edit{
		{"\tcase c > 0:\n\t\treturn true, nil", "\tcase c > 0:\n\t\treturn false, nil"},
	}},
	{Name: "a restored floor is forgotten", Edits: []mutants.Edit{
		{"\tif !floor.IsZero() {\n\t\tg.high.Store(&floor)", "\tif false {\n\t\tg.high.Store(&floor)"},
	}},
	{Name: "a floor of an epoch alone is none", Edits: []mutants.Edit{
		{"\tif !floor.IsZero() {\n\t\tg.high", "\tif floor.id != nil {\n\t\tg.high"},
	}},
	{Name: "a restored floor refuses the term that it is of", Edits: []mutants.Edit{
		{"\tcase c < 0:\n\t\treturn false, &Stale", "\tcase c < 0, c == 0 && h.id == nil:\n\t\treturn false, &Stale"},
	}},
	{Name: "two holders of one epoch are admitted", Edits: []mutants.Edit{
		{"\tcase t.conflicts(*h):", "\tcase false:"},
	}},
	{Name: "refusals are tried again at once", Edits: []mutants.Edit{
		{"r.after, r.refused = m.now.Observer.Add(explainTime), true", "r.after, r.refused = 0, false"},
	}},
	{Name: "what two snapshots of replicas that lag do not hold is missing", Edits: []mutants.Edit{
		{
			"return gen < v.gen && (denied || revision <= reaches)",
			"return gen+1 < v.gen || gen < v.gen && revision <= reaches || denied && false",
		},
	}, By: &beside},
	{Name: "a refused write proves nothing missing", Edits: []mutants.Edit{
		{"m.view.Deny(&p.entry, p.expect)", "_ = m.view.Deny"},
	}, By: &beside},
	{Name: "a refusal by our own rotation proves its record missing", Edits: []mutants.Edit{
		{"(open == nil || !open(r))", "(open == nil || open != nil)"},
	}, By: &beside},
	{Name: "the word of a single server on how far it is proves nothing missing", Edits: []mutants.Edit{
		{"if v.reaches = 0; w.Single {", "if v.reaches = 0; false {"},
	}, By: &beside},
	{Name: "a replica holds all that the store's leader has", Edits: []mutants.Edit{
		{"if v.reaches = 0; w.Single {", "if v.reaches = 0; w.Told && !w.Behind {"},
	}, By: &beside},
	{Name: "a missing term that is taken back is not waited for", Edits: []mutants.Edit{
		{"free, is := m.freeSince(rv)", "free, is := record.Instant(0), false"},
	}, By: &beside},
	{Name: "an older lease is never what stands", Edits: []mutants.Edit{
		{"return older && denied && unsettled", "return older && denied && unsettled && false"},
	}, By: &beside},
	{Name: "our own member record is looked for under the watch that has shown it alone", Edits: []mutants.Edit{
		{"shown := p.MemberSeen >= p.MemberRevision && m.view.Current(p)", "shown := p.MemberSeen >= p.MemberRevision"},
	}, By: &beside},
	{Name: "the window widens however long the store takes", Edits: []mutants.Edit{
		{"\tcase took <= m.cfg.OpTimeout/2:\n", "\tdefault:\n"},
	}, By: &slowStore},
	{Name: "the window widens on answers from when it was empty", Edits: []mutants.Edit{
		{"\treturn w.size >= w.first/2 && w.pace*timesOf(w.size) > most\n", "\treturn false\n"},
	}, By: &fullWindow},
	{Name: "what is absent from an adopted bucket is free", Edits: []mutants.Edit{
		{"since = since.Add(m.cfg.MaxTTL)", "_ = since"},
	}, By: &adoptedBucket},
	{Name: "the floors of two adoptions are in any order", Edits: []mutants.Edit{
		{"w.store.next()+atMost+w.rng.Uint64N(atMost), w.store.floor+1)", "w.store.next()+atMost+w.rng.Uint64N(atMost), 0)"},
	}, By: &adoptedBucket},
	{Name: "a lease that is revoked is dead to all", Edits: []mutants.Edit{
		{"\tcase Revoked:\n\t\treturn l, errRevoked\n", "\tcase Revoked:\n\t\tl.State = Killed\n\t\treturn l, nil\n"},
	}, By: &beside},
	{Name: "a process whose lease is revoked opens the next one at once", Edits: []mutants.Edit{
		{"\tm.phase = syncing\n\tm.rebuild(\"our lease was revoked\")", "\t_ = m.rebuild"},
	}, By: &beside},
	{Name: "a win over nothing below what was known is forgotten", Edits: []mutants.Edit{
		{"m.below = append(m.below, w.Revision)", "_ = m.below"},
	}, By: &losses},
	{Name: "nobody is told that it follows", Edits: []mutants.Edit{
		{"\tm.wake(r)\n", ""},
	}, By: &beside},
	{Name: "an instance is told for each role in which it follows", Edits: []mutants.Edit{
		{"p == m.self || m.now.Holder < p.Notes.woken {", "p == m.self {"},
	}, By: &beside},
	{Name: "claims that were refused together are not halved", Edits: []mutants.Edit{
		{"\t\tt.limit = n / 2\n", "\t\tt.limit = n\n"},
	}, By: &crowds},
	{Name: "claims together without an answer are refused", Edits: []mutants.Edit{
		{"if o == record.Refused || p.session", "if o != record.Won || p.session"},
	}, By: &beside},
	{Name: "claims of which nothing is known go together again", Edits: []mutants.Edit{
		{"\t\tr.claim.alone = true\n", ""},
	}, By: &beside},
	{Name: "claims that were refused together are each refused", Edits: []mutants.Edit{
		{
			"\tif o == record.Refused || p.session",
			"\tif o == record.Refused && r != nil && r.claim != nil {\n\t\tm.endClaim(r)\n\t}\n" +
				"\tif o == record.Refused || p.session",
		},
	}, By: &beside},
	{Name: "a claim goes alone beside itself among others", Edits: []mutants.Edit{
		{"\tt.places--\n", "\tt.places--\n\tp.role.Notes.inflight = false\n"},
		{"return t.holds || t.places > 0 || t.flight.id != 0 || m.unseenTogether()", "return t.holds || t.places > 0"},
	}, By: &crowds},
	{Name: "claims go together while others do", Edits: []mutants.Edit{
		{"t.flight.id != 0 || m.unseenTogether()", "m.unseenTogether()"},
	}, By: &crowds},
	{Name: "the epochs of claims together are counted", Edits: []mutants.Edit{
		{
			"\tfor _, p := range f.claims {\n\t\tm.claimedTogether",
			"\tfor i, p := range f.claims {\n\t\tif w.Outcome == record.Won {\n" +
				"\t\t\tp.entry.Revision = w.Revision - uint64(len(f.claims)-1-i)\n" +
				"\t\t\tm.view.Merge(m.now.Observer, &p.entry, &m.news)\n\t\t}\n\t\tm.claimedTogether",
		},
	}, By: &crowds},
	{Name: "claims go together before our own beat", Edits: []mutants.Edit{
		{"!l.inflight && l.retry == (retry{})", "l.beat == 0"},
	}, By: &beside},
	{Name: "claims go together faster than the watch shows them", Edits: []mutants.Edit{
		{"return t.unseen && m.now", "return false && m.now"},
		{"t.off || t.unseen ||", "t.off ||"},
		{"max(c.took/timesOf(c.claims), c.shown/timesOf(2*c.claims), 1)", "max(c.took/timesOf(c.claims), 1)"},
	}, By: &beside},
	{Name: "claims go together whatever that takes", Edits: []mutants.Edit{
		{" || w.pace*timesOf(n) <= m.costOf(n) {", " {"},
	}, By: &beside},
	{Name: "a win over nothing needs no watch", Edits: []mutants.Edit{
		{"return p.expect == 0 && p.purpose != forProof }", "return false && p.expect == 0 && p.purpose != forProof }"},
	}, By: &namesakeBucket},
	{Name: "a proof is shared with questions that came after its write", Edits: []mutants.Edit{
		{"p.term == r.term.id && !p.sent })", "p.term == r.term.id })"},
	}, By: &beside},
	{Name: "a proof is not guarded by the role", Edits: []mutants.Edit{
		{"GuardKey: record.RoleKey(p.role), GuardRevision: p.epoch,", ""},
	}, By: &beside},
	{Name: "a proof without an answer is proof", Edits: []mutants.Edit{
		{"case w.Outcome == record.Unknown, w.Outcome == record.Refused &&", "case w.Outcome == record.Refused &&"},
	}, By: &beside},
	{Name: "a proof is tried a few times in an interval", Edits: []mutants.Edit{
		{"m.cfg.Heartbeat/provings))", "m.cfg.Heartbeat))"},
	}, By: &beside},
	{Name: "a proof needs no fresh beat", Edits: []mutants.Edit{
		{"\tif !m.alive() {\n\t\treturn\n\t}\n\tfor _, p := range m.proofs {", "\tfor _, p := range m.proofs {"},
	}, By: &beside},
	{Name: "a booked session of which nothing is left is not ended", Edits: []mutants.Edit{
		{"return p.Member != nil || len(p.Holds) > 0 || p.Booked > 0\n}", "return p.Member != nil || len(p.Holds) > 0\n}"},
	}, By: &beside},
	{Name: "a booked session of which an earlier end is left is not ended", Edits: []mutants.Edit{
		{
			"\tcase p.Form == record.FormRecord && p.Booked > 0:\n\t\treturn p.Lease.Alive() || m.view.Whole()\n",
			"",
		},
	}, By: &beside},
	{Name: "a peer on the books is forgotten", Edits: []mutants.Edit{
		{"len(p.Holds) > 0 || p.Booked > 0 {", "len(p.Holds) > 0 {"},
	}, By: &beside},
	{Name: "what tells of an end leaves with the longest lease", Edits: []mutants.Edit{
		{"return 2*maxTTL + time.Second }", "return maxTTL }"},
	}, By: &beside},
	{Name: "the name of a deleted role is forgotten at once", Edits: []mutants.Edit{
		{"return max(r.Waits, r.Seen.Add(v.MaxTTL)), true", "return r.Waits, true"},
	}, By: &beside},
	{Name: "a role that was deleted is free like one that was removed", Edits: []mutants.Edit{
		{
			"if r, err := DecodeRole(value, maxTTL); err == nil && r.Vacant && !r.Forced {",
			"if r, err := DecodeRole(value, maxTTL); err == nil || r.Vacant || true {",
		},
	}},
	{Name: "a marker with a vacancy by force is one of a removal", Edits: []mutants.Edit{
		{"err == nil && r.Vacant && !r.Forced {", "err == nil && r.Vacant {"},
	}, By: &beside},
	{Name: "a removed role is waited for like a deleted one", Edits: []mutants.Edit{
		{"\tcase record.FormRemoved:\n\t\treturn rv.Seen, true\n", ""},
	}, By: &beside},
	{Name: "a removed role is lost when its marker has left", Edits: []mutants.Edit{
		{"if r.Form == record.FormRemoved { // its marker", "if false { // its marker"},
	}, By: &beside},
	{Name: "a role that was vacated by force is removed", Edits: []mutants.Edit{
		{"\tcase r.Role.Forced:\n\t\treturn RemovalForced, r.Role.By, 0\n", ""},
	}, By: &beside},
	{Name: "a role is removed that a live member wants", Edits: []mutants.Edit{
		{"\t\tif p.Belongs() {\n\t\t\treturn RemovalWanted", "\t\tif false {\n\t\t\treturn RemovalWanted"},
	}, By: &beside},
	{Name: "a role is removed that was vacated a moment ago", Edits: []mutants.Edit{
		{"until = r.Seen.Add(v.MaxTTL); now < until {", "until = r.Seen.Add(v.MaxTTL); false {"},
	}, By: &beside},
	{Name: "the vacancy of a role that is wanted expires", Edits: []mutants.Edit{
		{"\t\t\tm.keepVacancy(r)\n", "\t\t\t_ = m.keepVacancy\n"},
	}, By: &beside},
	{Name: "a vacancy by force is one in order before all have waited", Edits: []mutants.Edit{
		{"\t\tdue = max(due, free)\n", "\t\t_ = free\n"},
	}, By: &beside},
	{Name: "a marker with a live lease is an end", Edits: []mutants.Edit{
		{"err == nil && !l.Alive() {", "err == nil {"},
	}, By: &beside},
	{Name: "an ended peer is forgotten at once", Edits: []mutants.Edit{
		{"if p.Lease.Alive() || now.Sub(p.Seen) < Tombstone(v.MaxTTL) {", "if p.Lease.Alive() {"},
	}, By: &beside},
	{Name: "an ended peer is never forgotten", Edits: []mutants.Edit{
		{"if p.Lease.Alive() || now.Sub(p.Seen) < Tombstone(v.MaxTTL) {", "if p.Form == record.FormRecord {"},
	}, By: &beside},
	{Name: "a tombstone that has left is waited for", Edits: []mutants.Edit{
		{"if p.Form == record.FormRecord && !p.Lease.Alive() { // its tombstone has left", "if false {"},
	}, By: &beside},
	{Name: "a tombstone that has left is never shown again", Edits: []mutants.Edit{
		{"gone := form == record.FormMissing || form == record.FormNone", "gone := form == record.FormMissing"},
	}, By: &beside},
	{Name: "a vacancy by force stays one", Edits: []mutants.Edit{
		{"rec.Forced, rec.Next = false, \"\"", "rec.Next = \"\""},
	}, By: &beside},
	{Name: "a vacancy that is written again is told again", Edits: []mutants.Edit{
		{"if r.vacancy() > 0 && !written ||", "if r.vacancy() > 0 && (!written || written) ||"},
	}, By: &beside},
	{Name: "a role is given up for a session that may live", Edits: []mutants.Edit{
		{"if !dead || m.barred ||", "if !dead && !rv.Held() || m.barred ||"},
	}},
	{Name: "a role is given up for a session that has just ended", Edits: []mutants.Edit{
		{"\tdue := since.Add(m.cfg.MaxTTL)\n\tif m.now", "\tdue := since\n\tif m.now"},
	}, By: &beside},
	{Name: "the roles of dead sessions stay for ever", Edits: []mutants.Edit{
		{"\t\t\tm.giveUpForDead(rv)\n", "\t\t\t_ = m.giveUpForDead\n"},
	}, By: &beside},
	{Name: "the role of a dead session is given up that somebody wants", Edits: []mutants.Edit{
		{"|| !m.view.Whole() || m.wanted(rv) {", "|| !m.view.Whole() {"},
	}, By: &beside},
	{Name: "a user that may not give up the roles of the dead loses its session", Edits: []mutants.Edit{
		{"w.Denied = w.Denied && p.entry", "w.Denied = w.Denied && false && p.entry"},
	}, By: &beside},
	{Name: "a user that may not give up the roles of the dead tries without end", Edits: []mutants.Edit{
		{"m.barred = true", "m.barred = false"},
	}, By: &beside},
	{Name: "that others have given a role up is a sign of its dead leader", Edits: []mutants.Edit{
		{" && next.By == r.Role.ID &&\n\t\t!v.Dead(r.Role.Holder(), r.Role.Session):", " && next.By == r.Role.ID:"},
	}, By: &beside},
	{Name: "a role leaves when it is given up though somebody wants it", Edits: []mutants.Edit{
		{"m.view.Vacancies() < m.cfg.Vacancies || m.wanted(rv) {", "m.view.Vacancies() < m.cfg.Vacancies {"},
	}, By: &beside},
	{Name: "a role leaves when it is taken by force", Edits: []mutants.Edit{
		{"if rec.Forced || m.view.Vac", "if m.view.Vac"},
	}, By: &beside},
	{Name: "each former role stays", Edits: []mutants.Edit{
		{"m.view.Vacancies() < m.cfg.Vacancies ||", "m.view.Vacancies() < 1000*m.cfg.Vacancies ||"},
	}, By: &beside},
	{Name: "a vacancy that is written again is counted again", Edits: []mutants.Edit{
		{"\tv.vacancies -= r.vacancy()\n", ""},
	}, By: &beside},
	{Name: "a role that leaves when it is given up is not told of", Edits: []mutants.Edit{
		{"|| r.Form == record.FormRemoved && held {", "|| r.Form == record.FormRemoved && held && false {"},
	}, By: &beside},
	{Name: "a claim expects a marker that has left", Edits: []mutants.Edit{
		{"\tm.outlast(rv)\n", "\t_ = m.outlast\n"},
	}, By: &beside},
	{Name: "a marker that leaves ends an open claim over it", Edits: []mutants.Edit{
		{"rv.Notes.inflight || rv.Notes.mine.claim != nil:\n", "rv.Notes.inflight:\n"},
	}, By: &beside},
	{Name: "a refusal under a late watch asks for a new one", Edits: []mutants.Edit{
		{"r.shown < shown && shown < r.late", "r.shown < shown && shown < 0"},
	}, By: &beside},
	{Name: "a refusal under a dead watch is waited for without end", Edits: []mutants.Edit{
		{"r.shown < shown && shown < r.late", "shown < r.late"},
	}, By: &beside},
}
