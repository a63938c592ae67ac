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
	{Name: "a leader put out by force comes back at once", Edits: []mutants.Edit{
		{"\tm.startCoolDown(r)\n", ""},
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
	}, By: &beside},
	{Name: "a restored bucket can be opened before it is adopted", Edits: []mutants.Edit{
		{"adoption{identity: w.store.identity, mark: w.adoptions}", "adoption{identity: w.store.identity}"},
	}, By: &restoredBucket},
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
	{Name: "a peer in the state is forgotten", Edits: []mutants.Edit{
		{"len(p.Holds) > 0 || p.Booked > 0 {", "len(p.Holds) > 0 {"},
	}, By: &beside},
}
