package electionsim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// lost is the mutants of what a bucket has lost: its newest writes, a record, or everything when it
// was recreated.
var lost = []mutants.Mutant{
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
	{Name: "our member record is missed while we remove it", Edits: []mutants.Edit{
		{"m.own.inflight, m.own.open = true, m.now.Observer\n", "m.own.inflight = true\n"},
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
	}, By: &beside},
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
	{Name: "a missing lease is waited for by what an earlier session held", Edits: []mutants.Edit{
		{"r.Role.Session == latest {", "r.Role.Session <= latest {"},
	}, By: &beside},
	{Name: "no patience with a missing lease", Edits: []mutants.Edit{
		{"\tlongest := p.LastTTL\n", "\tif p.Form == record.FormMissing {\n\t\treturn 0\n\t}\n\tlongest := p.LastTTL\n"},
	}, By: &beside},
}
