package tasksim

const (
	core = "internal/protocol/tasks/"
	here = "propertytests/tasksim/"
)

// Two rules of the drivers are not here, since the model meets what they prevent too rarely: that the members come from a
// watch that has carried our own epoch, and that a worker takes nothing before its own record is in view. They have tests
// of their own, beside the rules and in package assign.
var mutants = []mutant{
	{"hand out before everybody has answered", []edit{
		{core + "adopt.go", "return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"},
	}},
	{"hand out what nobody has claimed so far", []edit{
		{core + "adopt.go", "\tif s.ready || s.seal.valid == 0 || !s.carried {\n\t\treturn\n\t}\n", "\tif s.ready || s.seal.valid == 0 || !s.carried {\n\t\treturn\n\t}\n\tclaimed := map[string]bool{}\n\tfor _, w := range s.line {\n\t\tfor _, h := range w.claims {\n\t\t\tclaimed[h.ID] = true\n\t\t}\n\t}\n\tfor id, t := range s.tasks {\n\t\tif w := pick(s.line, s.now); w != nil && w.synced && !claimed[id] && t.state == waiting {\n\t\t\ts.assign(t, w)\n\t\t\tw.open, w.fresh = append(w.open, w.fresh...), w.fresh[:0]\n\t\t\ts.push(w)\n\t\t}\n\t}\n"},
	}},
	{"no seal", []edit{
		{here + "store.go", "if s.last[on] != expect {", "if s.last[on] != expect && (on != sealSubject || subject == sealSubject) {"},
	}},
	{"no new seal after an unknown outcome", []edit{
		{core + "seal.go", "\t\ts.emit(Refused{Op: writeNames[w.kind]})\n\t}\n\ts.renew()\n", "\t\ts.emit(Refused{Op: writeNames[w.kind]})\n\t\ts.renew()\n\t\treturn\n\t}\n\ts.send(w)\n"},
	}},
	{"nothing remembered of what was answered", []edit{
		{core + "worker.go", "if v, known := w.memory[a.Serial]; known {", "if v, known := w.memory[a.Serial]; known && v == 0 {"},
	}},
	{"no low-water mark", []edit{
		{core + "worker.go", "\tif a.Serial <= w.low {\n\t\treturn Replayed\n\t}\n", ""},
	}},
	{"no session in the audience", []edit{
		{here + "worker.go", "case f.session != k.session:", "case f.session == 0:"},
	}},
	{"any attempt is adopted", []edit{
		{core + "adopt.go", "case t.worker != nil && h.Attempt.Compare(t.attempt) <= 0:", "case t.worker != nil && h.Attempt.Compare(t.attempt) > 0:"},
	}},
	{"an attempt that is known to have ended is adopted", []edit{
		{core + "adopt.go", " || h.Attempt.Compare(t.floor) <= 0:", ":"},
	}},
	{"a stale epoch means that it does not run", []edit{
		{core + "event.go", "case Full, UnknownKind,", "case StaleEpoch, Full, UnknownKind,"},
	}},
	{"an outcome is accepted whatever its attempt", []edit{
		{core + "outcome.go", "t.state != running || t.worker.session != e.Session || t.attempt != e.Attempt:", "t.state != running:"},
	}},
	{"the outbox is dropped on a new epoch", []edit{
		{here + "worker.go", "func (k *worker) newLeader() {\n", "func (k *worker) newLeader() {\n\tfor _, h := range sorted(k.results) {\n\t\tk.step(tasks.Acked(h))\n\t}\n"},
	}},
	{"a deposed scheduler answers reports", []edit{
		{here + "worker.go", "if l.over || epoch != l.epoch {", "if l.over || epoch == 0 {"},
	}},
	{"frames of earlier epochs are believed", []edit{
		{here + "worker.go", "case f.epoch != p.epoch:", "case f.epoch == 0:"},
	}},
	{"a push without an answer is given to somebody else", []edit{
		{core + "member.go", "\t\tif len(w.open) > 0 && w.again <= s.now {\n\t\t\ts.push(w)\n", "\t\tif len(w.open) > 0 && w.again <= s.now {\n\t\t\tfor len(w.open) > 0 {\n\t\t\t\tt := w.open[0]\n\t\t\t\ts.unassign(t)\n\t\t\t\ts.enqueue(t, true)\n\t\t\t}\n"},
	}},
	{"run again before the note is stored", []edit{
		{core + "outcome.go", "\ts.emit(Reassigned{t.kind.name, cause})\n\ts.write(", "\ts.emit(Reassigned{t.kind.name, cause})\n\tif t.unassignNow(s) {\n\t\tif ref != nil {\n\t\t\ts.emit(Settle{Ref: ref})\n\t\t}\n\t\treturn\n\t}\n\ts.write("},
		{core + "task.go", "func (t *task) tries() int {", "func (t *task) unassignNow(s *Scheduler) bool {\n\ts.unassign(t)\n\ts.enqueue(t, true)\n\treturn true\n}\n\nfunc (t *task) tries() int {"},
	}},
	{"a worker that does not answer is dead", []edit{
		{core + "member.go", "\t\tw.deaf = true\n", "\t\tDead{w.session}.apply(s)\n"},
		{here + "scheduler.go", "\tfor _, p := range l.w.procs {\n\t\tif p.name == instance {\n", "\tif n := f.push; n != nil && l.w.chance(0.02) {\n\t\tl.w.after(0, func() { l.step(tasks.Unheard{Session: f.session, Frame: n.Frame}) })\n\t}\n\tfor _, p := range l.w.procs {\n\t\tif p.name == instance {\n"},
	}},
	{"acknowledged before it is stored", []edit{
		{core + "outcome.go", "\tif ref != nil {\n\t\tw.refs = append(w.refs, ref)\n\t}\n", "\tif ref != nil {\n\t\ts.emit(Settle{Ref: ref})\n\t}\n"},
	}},
	{"reports that come early are dropped and acknowledged", []edit{
		{core + "outcome.go", "\t\ts.early[held{e.Session, Held{e.ID, e.Attempt}}] = e // bounded by what the workers hold\n", "\t\ts.emit(Settle{Ref: e.Ref})\n"},
	}},
}
