package tasksim

const (
	core = "internal/protocol/tasks/"
	here = "propertytests/tasksim/"
)

// Four rules are not here, since the model meets what they prevent too rarely: that the members come from a watch that has
// carried our own epoch, that a worker takes nothing before its own record is in view, that the key of a task's next submission
// is not freed, and that one seal is not enough in the beginning. They have tests of their own, beside the rules and in package
// assign.
var mutants = []mutant{
	{"hand out before everybody has answered", []edit{
		{core + "adopt.go", "return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"},
	}},
	{"hand out what nobody has claimed so far", []edit{
		{core + "adopt.go", "\tif s.ready || s.seal.valid == 0 || !s.carried {\n\t\treturn\n\t}\n", "\tif s.ready || s.seal.valid == 0 || !s.carried {\n\t\treturn\n\t}\n\tclaimed := map[string]bool{}\n\tfor _, w := range s.line {\n\t\tfor _, h := range w.claims {\n\t\t\tclaimed[h.ID] = true\n\t\t}\n\t}\n\ts.round++\n\tfor _, id := range slices.Sorted(maps.Keys(s.tasks)) {\n\t\tt := s.tasks[id]\n\t\tfor _, w := range s.line {\n\t\t\tif w.synced && w.idle(s) && !claimed[id] && t.phase == waiting && s.numbered(t) {\n\t\t\t\ts.occupy(t)\n\t\t\t\ts.unqueue(t)\n\t\t\t\ts.seat(t, w)\n\t\t\t\ts.present(t)\n\t\t\t\ts.push(w)\n\t\t\t\tbreak\n\t\t\t}\n\t\t}\n\t}\n"},
	}},
	{"no seal", []edit{
		{here + "store.go", "if p.on != \"\" && s.last[p.on] != p.expect {", "if p.on != \"\" && s.last[p.on] != p.expect && (p.on != sealSubject || p.subject == sealSubject) {"},
	}},
	{"no new seal after an unknown outcome", []edit{
		{core + "write.go", "\t\ts.renewSlowly()\n\tdefault:\n\t\ts.renewSlowly()\n", "\t\ts.renewSlowly()\n\tdefault:\n\t\ts.send(w)\n"},
	}},
	{"one seal is enough after an unknown outcome", []edit{
		{core + "seal.go", "(*write).doubtful))", "(*write).doubtful) && l.epoch == 0)"},
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
		{core + "adopt.go", "h.Attempt.Compare(t.attempt) <= 0", "(h.Attempt.Compare(t.attempt) <= 0) != (t.phase == running)"},
	}},
	{"an attempt that is known to have ended is adopted", []edit{
		{core + "adopt.go", "h.Attempt.Compare(t.attempt) <= 0", "t.phase == running && h.Attempt.Compare(t.attempt) <= 0"},
	}},
	{"what belongs to a former submission is adopted", []edit{
		{core + "adopt.go", " || t.revision != h.Revision", ""},
	}},
	{"a stale epoch means that it does not run", []edit{
		{core + "event.go", "case Full, UnknownKind,", "case StaleEpoch, Full, UnknownKind,"},
	}},
	{"an outcome is accepted whatever its attempt", []edit{
		{core + "outcome.go", " && t.run.worker.session == session && t.attempt == a\n", "\n"},
	}},
	{"the outbox is dropped on a new epoch", []edit{
		{here + "worker.go", "func (k *worker) newLeader() {\n", "func (k *worker) newLeader() {\n\tfor _, h := range sorted(k.results) {\n\t\tk.step(tasks.Acked{ID: h.ID, Attempt: h.Attempt})\n\t}\n"},
	}},
	{"a deposed scheduler answers reports", []edit{
		{here + "worker.go", "if l.over || epoch != l.epoch {", "if l.over || epoch == 0 {"},
	}},
	{"frames of earlier epochs are believed", []edit{
		{here + "worker.go", "case f.epoch != p.epoch:", "case f.epoch == 0:"},
	}},
	{"a push without an answer is given to somebody else", []edit{
		{core + "member.go", "\t\tif w.missing > 0 && w.again <= s.now {\n\t\t\ts.push(w)\n", "\t\tif w.missing > 0 && w.again <= s.now {\n\t\t\tfor _, h := range slices.Clone(w.open) {\n\t\t\t\tif h.unanswered(w) {\n\t\t\t\t\ts.release(h.t, rejected, nil)\n\t\t\t\t}\n\t\t\t}\n"},
	}},
	{"run again before the note is stored", []edit{
		{core + "outcome.go", "\ts.reassigned(t, cause)\n\tw := s.write(t, noting, ref)\n", "\ts.reassigned(t, cause)\n\tif s.ready && t.run != nil && t.run.saving == nil {\n\t\ts.unassign(t)\n\t\ts.putAway(t)\n\t\ts.enqueue(t)\n\t\tif ref != nil {\n\t\t\ts.emit(Settle{Ref: ref})\n\t\t}\n\t\treturn\n\t}\n\tw := s.write(t, noting, ref)\n"},
	}},
	{"a worker that does not answer is dead", []edit{
		{core + "member.go", "\t\tw.deaf = true\n", "\t\tDead{Session: w.session}.apply(s)\n"},
		{here + "sending.go", "\tfor _, p := range l.w.procs {\n\t\tif p.name == instance {\n", "\tif n := f.push; n != nil && l.w.chance(0.02) {\n\t\tl.w.after(0, func() { l.step(tasks.Unheard{Session: f.session, Frame: n.Frame}) })\n\t}\n\tfor _, p := range l.w.procs {\n\t\tif p.name == instance {\n"},
	}},
	{"acknowledged before it is stored", []edit{
		{core + "outcome.go", "\tr.write.waits(ref)\n", "\tif ref != nil {\n\t\ts.emit(Settle{Ref: ref})\n\t}\n"},
	}},
	{"reports that come early are dropped and acknowledged", []edit{
		{core + "outcome.go", "\t\ts.early[held{e.Session, e.ID, e.Attempt}] = e // bounded by what the workers hold\n", "\t\ts.emit(Settle{Ref: e.Ref})\n"},
	}},
	{"attempts begin anew with each submission", []edit{
		{core + "task.go", "N: s.marks[markOf(t.id)]}", "N: 0}"},
	}},
	{"a request is removed before the task has ended", []edit{
		{core + "steer.go", "\t\t\ts.abort(t, StatusCancelled, CauseCancelled)\n", "\t\t\ts.abort(t, StatusCancelled, CauseCancelled)\n\t\t\ts.dropCancel(e.ID)\n"},
	}},
	{"a request is forgotten when nobody leads", []edit{
		{core + "steer.go", "\ts.cancels[e.ID] = e.Revision\n", "\tif !s.settled {\n\t\treturn\n\t}\n\ts.cancels[e.ID] = e.Revision\n"},
	}},
	{"a paused kind is handed out", []edit{
		{core + "pool.go", " || l.kind.paused", ""},
	}},
	{"a pause lets go what has not left", []edit{
		{core + "steer.go", "\t\tif e.Paused {\n\t\t\ts.takeBack", "\t\tif false {\n\t\t\ts.takeBack"},
	}},
	{"a drained worker is given something", []edit{
		{core + "member.go", " && !w.drained", ""},
	}},
	{"a checkpoint is acknowledged before it is stored", []edit{
		{core + "checkpoint.go", "\tw.waits(e.Ref)\n\tr.saving = w\n", "\ts.emit(Settle{Ref: e.Ref})\n\tr.saving = w\n"},
	}},
	{"a late copy overwrites a checkpoint", []edit{
		{core + "checkpoint.go", "\tcase e.Ran <= r.kept:\n", "\tcase e.Ran < 0:\n"},
		{core + "checkpoint.go", "case e.Ran <= r.kept && r.saving != nil:", "case e.Ran == r.kept && r.saving != nil:"},
	}},
	{"a note says that the checkpoint before it is stored", []edit{
		{core + "outcome.go", "\tif t.run.saving != nil {\n\t\treturn\n\t}\n", "\tif w := t.run.saving; w != nil {\n\t\tdelete(s.writes, w.number)\n\t\ts.settle(w, false)\n\t}\n"},
	}},
	{"given back before its checkpoint is stored", []edit{
		{core + "outcome.go", " || t.run.saving != nil }", " }"},
		{core + "checkpoint.go", "\tif t.run.saving = w.next; w.next != nil {", "\tif t.run == nil || t.run.saving != w {\n\t\treturn\n\t}\n\tif t.run.saving = w.next; w.next != nil {"},
	}},
	{"a checkpoint is not handed on", []edit{
		{core + "dispatch.go", "\t\t\tCheckpoint: t.checkpoint,\n", ""},
	}},
	{"a key is freed though somebody has taken it", []edit{
		{here + "scheduler.go", "put{\"u.\" + e.Key, erased{}, \"u.\" + e.Key, e.Expect}", "put{\"u.\" + e.Key, erased{}, \"\", 0}"},
	}},
	{"a key is freed before the task has ended", []edit{
		{core + "unique.go", " && s.tasks[t.id] == nil {", " {"},
		{core + "outcome.go", "\ts.dropSaving(t)\n", "\ts.dropSaving(t)\n\ts.freeUnique(t)\n"},
	}},
	{"a key is freed before its submission was read", []edit{
		{core + "unique.go", "\ts.uniques[e.Key] = unique{e.Revision, e.Task}\n", "\ts.uniques[e.Key] = unique{e.Revision, e.Task}\n\tif s.tasks[e.Task] == nil {\n\t\ts.free(e.Key)\n\t}\n"},
	}},
	{"keys are not freed", []edit{
		{core + "reading.go", "\ts.freeUnique(t)\n", ""},
	}},
	{"one more than a kind may", []edit{
		{core + "dispatch.go", "k.held() >= k.Concurrency", "k.held() > k.Concurrency"},
	}},
	{"the bucket of a rate is full after a fail-over", []edit{
		{core + "limits.go", "c.arrival = ready.Add(slack + step)", "c.arrival = 1 + 0*ready.Add(step)"},
	}},
	{"one more than a key may", []edit{
		{core + "limits.go", "l.running >= max(t.policy.KeyLimit, 1)", "l.running > max(t.policy.KeyLimit, 1)"},
	}},
	{"what was set aside is forgotten", []edit{
		{core + "limits.go", "\t\tl.running--\n\t\ts.admit(key, l)\n", "\t\tl.running--\n"},
	}},
	{"priority does not count", []edit{
		{core + "task.go", "return t.due.Add(-s.cfg.AgingStep * time.Duration(t.policy.Priority))", "return t.due.Add(-s.cfg.AgingStep * time.Duration(t.policy.Weight))"},
	}},
	{"what comes back waits behind the others", []edit{
		{core + "task.go", "\tt.since = s.now\n", "\tt.since, t.due = s.now, s.now\n"},
	}},
	{"a label needs no value", []edit{
		{core + "lane.go", "for k, v := range l.labels {\n\t\tif got, ok := w.labels[k]; !ok || got != v {", "for k := range l.labels {\n\t\tif _, ok := w.labels[k]; !ok {"},
	}},
	{"a tick and its record are stored one after the other", []edit{
		{here + "scheduler.go", "\"q.\" + e.ID, 0},\n\t\t\tput{\"k.\" + e.Recurrence.Name, tickOf{e.Tick}, sealSubject, e.Guard})", "sealSubject, e.Guard})\n\t\tif w.chance(0.9) {\n\t\t\tl.write(1<<60, put{\"k.\" + e.Recurrence.Name, tickOf{e.Tick}, sealSubject, e.Guard})\n\t\t}"},
	}},
	{"a tick takes the place of what stands there", []edit{
		{here + "scheduler.go", "submission{policy: e.Recurrence.Policy}, \"q.\" + e.ID, 0}", "submission{policy: e.Recurrence.Policy}, \"\", 0}"},
	}},
	{"a refusal by another condition than the seal's is not understood", []edit{
		{core + "seal.go", "if w.refused && !foreign {", "if w.refused && foreign {"},
	}},
	{"an outcome that may be gone is written without looking", []edit{
		{core + "write.go", "w.again = w.again || s.outlived(w)", "w.again = false"},
	}},
	{"a slow reading sees everything", []edit{
		{core + "write.go", " || w.t.revision < s.first && s.reading > 0 && s.reading >= kept", ""},
	}},
	{"a record is written while it is being erased", []edit{
		{core + "write.go", "s.erasing[w.record()] > 0", "s.erasing[w.record()] > 1<<30"},
	}},
	{"the local clock counts", []edit{
		{core + "clock.go", "\tif !c.told {\n", "\tif c.told || !c.told {\n"},
	}},
	{"what the local clock let wait for a worker goes", []edit{
		{core + "clock.go", "if !first || s.clock.shift >= guessed {", "if first || s.clock.shift >= guessed {"},
	}},
	{"what has never been sent may have been sent before", []edit{
		{core + "member.go", " || a.Verdict == Unsent && (e.Frame != w.frame || w.tries > 1) {", " {"},
	}},
	{"the last tick of a definition that cannot be read is removed", []edit{
		{core + "recur.go", "if !s.settled || r.blind {", "if !s.settled {"},
	}},
	{"a task that cannot be read is none", []edit{
		{core + "opaque.go", "\treturn o.revision, open\n", "\treturn o.revision, open && o.noted && o.saved\n"},
	}},
	{"the records of a task that cannot be read are removed", []edit{
		{core + "opaque.go", "\treturn is\n}\n\n// unveil", "\treturn false\n}\n\n// unveil"},
	}},
	{"the record of the last tick is not read", []edit{
		{core + "recur.go", "latest(r.since, r.fired, r.seen)", "latest(r.since, r.seen)"},
	}},
	{"missed ticks are dropped that are all to be run", []edit{
		{core + "missed.go", "keep = min(keep, maxTicks)", "keep = min(keep, 1)"},
	}},
	{"an outcome that is never stored is written again for ever", []edit{
		{core + "unstorable.go", "case w.kind == outcomeWrite && w.outcome.replaceable():", "case false:"},
	}},
	{"a checkpoint that is never stored is acknowledged", []edit{
		{core + "checkpoint.go", "\ts.settle(w, true)\n\ts.afterSaving(w)", "\ts.settle(w, false)\n\ts.afterSaving(w)"},
	}},
	{"a checkpoint that is never stored is acknowledged when it is told again", []edit{
		{core + "checkpoint.go", "\t\tr.kept = r.stored\n", ""},
	}},
	{"a checkpoint that is never stored is waited for", []edit{
		{core + "checkpoint.go", "\ts.settle(w, true)\n\ts.afterSaving(w)", "\ts.settle(w, true)"},
	}},
	{"the record of a recurrence that was removed stays", []edit{
		{core + "recur.go", "\tif r.kept {\n\t\ts.erase(", "\tif r.def != nil {\n\t\ts.erase("},
	}},
}

// poisonous are mutants that a task shows which takes the scheduler down with it.
var poisonous = []mutant{
	{"nobody is suspected after a crash", []edit{
		{core + "suspect.go", "return t.revision < s.before", "return t.revision == 0"},
	}},
	{"a peaceful end clears everybody", []edit{
		{core + "seal.go", "s.before = l.suspect", "s.before = 0"},
	}},
	{"begun attempts are not counted", []edit{
		{core + "adopt.go", "\ts.countBegun()\n", ""},
	}},
}

// rare are those that a world without faults comes to no more, or hardly: the tests beside the rules catch them.
var rare = []mutant{
	{"what begun in a peaceful term counts as lost", []edit{
		{core + "suspect.go", "a.Epoch == s.seal.rested", "false"},
	}},
}
