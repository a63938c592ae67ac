package electionsim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// left is the mutants of what sessions leave behind that are over: their names, their roles, and
// the markers of both.
var left = []mutants.Mutant{
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
	{Name: "a role that was vacated by force is removed before all have waited", Edits: []mutants.Edit{
		{"\tcase now < until && r.Role.Forced:\n\t\treturn RemovalForced, r.Role.By, until\n", "\tcase r.Role.Forced:\n"},
	}, By: &beside},
	{Name: "the server forgets an eviction", Edits: []mutants.Edit{
		{
			"return Write{Key: record.RoleKey(role), Expect: epoch, Value",
			"return Write{TTL: VacancyTTL, Key: record.RoleKey(role), Expect: epoch, Value",
		},
	}, By: &steppingClock},
	{Name: "a role is removed that a live member wants", Edits: []mutants.Edit{
		{"\t\tif p.Belongs() {\n\t\t\treturn RemovalWanted", "\t\tif false {\n\t\t\treturn RemovalWanted"},
	}, By: &beside},
	{Name: "a role is removed that was vacated a moment ago", Edits: []mutants.Edit{
		{"\tcase now < until:\n\t\treturn RemovalRecent", "\tcase false:\n\t\treturn RemovalRecent"},
	}, By: &beside},
	{Name: "a role is removed whose leader may live", Edits: []mutants.Edit{
		{"record.FormRecord || held && gone == Never:", "record.FormRecord:"},
	}, By: &beside},
	{Name: "a lease that is gone has been so for long", Edits: []mutants.Edit{
		{
			"\t\treturn p.Seen.Add(v.MaxTTL), true\n\tcase record.FormNone:",
			"\t\treturn p.Seen, true\n\tcase record.FormNone:",
		},
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
	{Name: "a member record expects a marker that has left", Edits: []mutants.Edit{
		{"\t\t\to.left = p.stood // tried at once\n", "\t\t\tm.unexplained(&o.retry)\n"},
	}, By: &beside},
	{Name: "a member record never expects a marker again", Edits: []mutants.Edit{
		{"\t\t\to.left = 0\n", ""},
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
