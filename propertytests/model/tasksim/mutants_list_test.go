package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// Rules are not here that the model meets too rarely, or has in another shape: that the members
// come from a watch that has carried our own epoch, that a worker takes nothing before its own
// record is in view, that the key of a task's next submission is not freed, that one seal is not
// enough in the beginning, and that a scheduler hears the reports of its own epochs only. They have
// tests of their own, beside the rules and in package assign; the last one stands in the list of
// the driver's mutants.
var drawn = []mutants.Mutant{
	{Name: "hand out before everybody has answered", Edits: []mutants.Edit{
		{"return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"},
	}},
	{Name: "hand out what nobody has claimed so far", Edits: []mutants.Edit{
		{
			"\tif s.ready || s.seal.valid == 0 || !s.carried {\n\t\treturn\n\t}\n",
			"\tif s.ready || s.seal.valid == 0 || !s.carried {\n\t\treturn\n\t}\n\tclaimed := map[string]bool{}\n" +
				"\tfor _, w := range s.workerList {\n\t\tfor _, h := range w.claims {\n\t\t\tclaimed[h.ID] = true\n\t\t}\n\t}\n" +
				"\ts.round++\n\tfor t := range s.tasks.all() {\n\t\tid := t.id()\n\t\tfor _, w := range s.workerList {\n" +
				"\t\t\tif w.synced && w.idle(s) && !claimed[id] && t.phase == waiting && s.numbered(t) {\n\t\t\t\ts.occupy(t)\n" +
				"\t\t\t\ts.unqueue(t)\n\t\t\t\ts.assign(t, w)\n\t\t\t\ts.present(t)\n\t\t\t\ts.push(w)\n\t\t\t\tbreak\n\t\t\t}\n" +
				"\t\t}\n\t}\n",
		},
	}},
	{Name: "no seal", Edits: []mutants.Edit{
		{
			"if p.on != \"\" && s.lastOf(p.on) != p.expect {",
			"if p.on != \"\" && s.lastOf(p.on) != p.expect && (p.on != sealSubject || p.subject == sealSubject) {",
		},
	}},
	{Name: "no new seal after an unknown outcome", Edits: []mutants.Edit{
		{"\t\ts.renewSlowly(w)\n\tdefault:\n\t\ts.renewSlowly(w)\n", "\t\ts.renewSlowly(w)\n\tdefault:\n\t\ts.send(w)\n"},
	}},
	{Name: "one seal is enough after an unknown outcome", Edits: []mutants.Edit{
		{"slices.ContainsFunc(all, (*write).doubtful)", "l.epoch == 0 && slices.ContainsFunc(all, (*write).doubtful)"},
	}},
	{Name: "nothing remembered of what was answered", Edits: []mutants.Edit{
		{"if v, known := w.memory[a.Serial]; known {", "if v, known := w.memory[a.Serial]; known && v == 0 {"},
	}},
	{Name: "no low-water mark", Edits: []mutants.Edit{
		{"\tif a.Serial <= w.low {\n\t\treturn tasks.Replayed\n\t}\n", ""},
	}},
	{Name: "no session in the audience", Edits: []mutants.Edit{
		{" || v.Session != a.Session", ""},
	}},
	{Name: "any attempt is adopted", Edits: []mutants.Edit{
		{"h.Attempt.Compare(t.attempt) <= 0", "(h.Attempt.Compare(t.attempt) <= 0) != (t.phase == running)"},
	}},
	{Name: "an attempt that is known to have ended is adopted", Edits: []mutants.Edit{
		{"h.Attempt.Compare(t.attempt) <= 0", "t.phase == running && h.Attempt.Compare(t.attempt) <= 0"},
	}},
	{Name: "what belongs to a former submission is adopted", Edits: []mutants.Edit{
		{" || t.revision != h.Revision", ""},
	}},
	{Name: "a stale epoch means that it does not run", Edits: []mutants.Edit{
		{"case Full, UnknownKind,", "case StaleEpoch, Full, UnknownKind,"},
	}},
	{Name: "an outcome is accepted whatever its attempt", Edits: []mutants.Edit{
		{" && t.run.worker.session == session && t.attempt == a\n", "\n"},
	}},
	{Name: "the outbox is dropped on a new epoch", Edits: []mutants.Edit{
		{
			"func (k *worker) newLeader() {\n",
			"func (k *worker) newLeader() {\n\tfor _, h := range sorted(k.results) {\n" +
				"\t\tk.step(workers.Acked{ID: h.ID, Attempt: h.Attempt})\n\t}\n",
		},
	}},
	{Name: "frames of earlier epochs are believed", Edits: []mutants.Edit{
		{"a.Epoch == 0 || v.Epoch != a.Epoch || ", ""},
	}},
	{Name: "frames and assignments of earlier epochs are believed", Edits: []mutants.Edit{
		{"a.Epoch == 0 || v.Epoch != a.Epoch || ", ""},
		{"\treturn term == w.term\n", "\treturn true\n"},
	}},
	{Name: "a lower version of limits replaces a higher one", Edits: []mutants.Edit{
		{"d.Version > stored.Version", "d.Version != stored.Version"},
	}},
	{Name: "of two declarations with one version the last one stays", Edits: []mutants.Edit{
		{"return Disputed", "return Replaced"},
	}},
	{Name: "declared limits do not count", Edits: []mutants.Edit{
		{"\t\tl = *b.declared\n", ""},
	}},
	{Name: "an override does not count", Edits: []mutants.Edit{
		{"l = b.override.Over(l)", "b.override.Over(l)"},
	}},
	{Name: "an override never ends", Edits: []mutants.Edit{
		{"\t\ts.expireBounds()\n", ""},
	}},
	{Name: "with nobody in view any scheduler is believed", Edits: []mutants.Edit{
		{"a.Epoch == 0 || v.Epoch != a.Epoch", "a.Epoch != 0 && v.Epoch != a.Epoch"},
	}},
	{Name: "an epoch that is not in view yet is believed", Edits: []mutants.Edit{
		{"case v.Epoch > a.Highest:", "case v.Epoch == 0:"},
		{"v.Epoch != a.Epoch", "v.Epoch < a.Epoch"},
	}},
	{Name: "a push without an answer is given to somebody else", Edits: []mutants.Edit{
		{
			"\t\tif w.missing > 0 && w.again <= s.now {\n\t\t\ts.push(w)\n",
			"\t\tif w.missing > 0 && w.again <= s.now {\n\t\t\tfor _, h := range slices.Clone(w.open) {\n" +
				"\t\t\t\tif h.unanswered(w) {\n\t\t\t\t\ts.release(h.t, rejected, nil)\n\t\t\t\t}\n\t\t\t}\n",
		},
	}},
	{Name: "run again before the note is stored", Edits: []mutants.Edit{
		{
			"\ts.reassigned(t, cause)\n\tw := s.write(t, noting, ref)\n",
			"\ts.reassigned(t, cause)\n\tif s.ready && t.run != nil && t.run.saving == nil {\n\t\ts.unassign(t)\n" +
				"\t\ts.putAway(t)\n\t\ts.enqueue(t)\n\t\tif ref != nil {\n\t\t\ts.emit(Settle{Ref: ref})\n\t\t}\n\t\treturn\n" +
				"\t}\n\tw := s.write(t, noting, ref)\n",
		},
	}},
	{Name: "a worker that does not answer is dead", Edits: []mutants.Edit{
		{"\ts.lost(w)\n\tif i :=", "\tDead{Session: w.session}.apply(s)\n\tif i :="},
		{
			"\tfor _, p := range l.w.procs {\n\t\tif p.name == instance {\n",
			"\tif n := f.push; n != nil && l.w.chance(0.02) {\n\t\tl.w.after(0, func() { l.step(tasks.NoResponder{Session: " +
				"f.session, Frame: n.Frame}) })\n\t}\n\tfor _, p := range l.w.procs {\n\t\tif p.name == instance {\n",
		},
	}},
	{Name: "acknowledged before it is stored", Edits: []mutants.Edit{
		{"\tr.write.waits(ref)\n", "\tif ref != nil {\n\t\ts.emit(Settle{Ref: ref})\n\t}\n"},
	}},
	{Name: "reports that come early are dropped and acknowledged", Edits: []mutants.Edit{
		{
			"\t\ts.early[held{e.Session, e.ID, e.Attempt}] = e // bounded by what the workers hold\n",
			"\t\ts.emit(Settle{Ref: e.Ref})\n",
		},
	}},
	{Name: "attempts begin again with each submission", Edits: []mutants.Edit{
		{"N: s.marks[markOf(t.id())]}", "N: 0}"},
	}},
	{Name: "a request is removed before the task has ended", Edits: []mutants.Edit{
		{
			"\t\t\ts.abort(t, StatusCancelled, CauseCancelled)\n",
			"\t\t\ts.abort(t, StatusCancelled, CauseCancelled)\n\t\t\ts.dropCancel(e.ID)\n",
		},
	}},
	{Name: "a request is forgotten when nobody leads", Edits: []mutants.Edit{
		{"\ts.cancels[e.ID] = e.Revision\n", "\tif !s.settled {\n\t\treturn\n\t}\n\ts.cancels[e.ID] = e.Revision\n"},
	}},
	{Name: "a paused kind is handed out", Edits: []mutants.Edit{
		{" || l.kind.paused", ""},
	}},
	{Name: "a pause lets go what has not left", Edits: []mutants.Edit{
		{"\t\tif e.Paused {\n\t\t\ts.takeBack", "\t\tif false {\n\t\t\ts.takeBack"},
	}},
	{Name: "a drained worker is given something", Edits: []mutants.Edit{
		{" && !w.drained", ""},
	}},
	{Name: "a checkpoint is acknowledged before it is stored", Edits: []mutants.Edit{
		{"\tw.waits(e.Ref)\n\tr.saving = w\n", "\ts.emit(Settle{Ref: e.Ref})\n\tr.saving = w\n"},
	}},
	{Name: "a late copy overwrites a checkpoint", Edits: []mutants.Edit{
		{"\tcase e.Ran <= r.kept:\n", "\tcase e.Ran < 0:\n"},
		{"case e.Ran <= r.kept && r.saving != nil:", "case e.Ran == r.kept && r.saving != nil:"},
	}},
	{Name: "a note says that the checkpoint before it is stored", Edits: []mutants.Edit{
		{
			"\tif t.run.saving != nil {\n\t\treturn\n\t}\n",
			"\tif w := t.run.saving; w != nil {\n\t\tdelete(s.writes, w.number)\n\t\ts.settle(w, false)\n\t}\n",
		},
	}},
	{Name: "given back before its checkpoint is stored", Edits: []mutants.Edit{
		{" || t.run.saving != nil\n}", "\n}"},
		{
			"\tif t.run.saving = w.next; w.next != nil {",
			"\tif t.run == nil || t.run.saving != w {\n\t\treturn\n\t}\n\tif t.run.saving = w.next; w.next != nil {",
		},
		{
			"\tt.checkpoint, t.run.stored = max(t.checkpoint, revision), w.ran\n",
			"\tif t.checkpoint = max(t.checkpoint, revision); t.run != nil {\n\t\tt.run.stored = w.ran\n\t}\n",
		},
		{"if r := w.t.run; r.kept == w.ran {", "if r := w.t.run; r != nil && r.kept == w.ran {"},
	}},
	{Name: "a checkpoint is not handed on", Edits: []mutants.Edit{
		{"Checkpoint: t.checkpoint, Alone", "Alone"},
	}},
	{Name: "a key is freed though somebody has taken it", Edits: []mutants.Edit{
		{"put{\"u.\" + e.Key, erased{}, \"u.\" + e.Key, e.Expect}", "put{\"u.\" + e.Key, erased{}, \"\", 0}"},
	}},
	{Name: "a key is freed before the task has ended", Edits: []mutants.Edit{
		{"\ts.dropSaving(t)\n\tw := ", "\ts.dropSaving(t)\n\ts.freeUnique(t)\n\tw := "},
	}},
	{Name: "a key is freed before its submission was read", Edits: []mutants.Edit{
		{
			"\ts.uniques[e.Key] = unique{e.Revision, e.Task, e.At}\n",
			"\ts.uniques[e.Key] = unique{e.Revision, e.Task, e.At}\n\tif s.tasks.get(e.Task) == nil {\n" +
				"\t\ts.free(e.Key, e.Revision)\n\t}\n",
		},
	}},
	{Name: "the key of a task is freed that is about to come", Edits: []mutants.Edit{
		{"reserved && at == u.at ||", "reserved && at < u.at ||"},
	}},
	{Name: "a key is freed that was taken between the two seals", Edits: []mutants.Edit{
		{" || u.revision > s.seal.former {", " {"},
	}},
	{Name: "a task that is about to come is not shut out", Edits: []mutants.Edit{
		{"f.next = Action{Do: Reserve, Task: f.key.Task, Expect: p.Revision}", "f.free()"},
	}},
	{Name: "the key of a dead task is freed that may come again", Edits: []mutants.Edit{
		{"e.Keyed && !s.settled", "e.Keyed && e.ID == \"\""},
	}, By: &beside},
	{Name: "a key that was taken too late is not freed", Edits: []mutants.Edit{
		{"0 < e.At && e.At < t.revision", "0 < e.At && e.At < 0"},
	}, By: &beside},
	{Name: "keys are not freed", Edits: []mutants.Edit{
		{"\ts.dropCancel(t.id())\n\ts.freeUnique(t)\n", "\ts.dropCancel(t.id())\n"},
	}},
	{Name: "one more than a kind may", Edits: []mutants.Edit{
		{"if k.Concurrency > 0 && k.held() >= k.Concurrency", "if k.Concurrency > 0 && k.held() > k.Concurrency"},
	}},
	{Name: "what is adopted takes no room of its key", Edits: []mutants.Edit{
		{"\ts.occupy(t)\n\ts.unqueue(t)\n\tt.attempt = h.Attempt\n", "\ts.unqueue(t)\n\tt.attempt = h.Attempt\n"},
	}},
	{Name: "the bucket of a rate is full after a fail-over", Edits: []mutants.Edit{
		{"c.arrival = ready.Add(slack + step)", "c.arrival = 1 + 0*ready.Add(step)"},
	}},
	{Name: "one more than a key may", Edits: []mutants.Edit{
		{"l.running >= t.keyLimit()", "l.running > t.keyLimit()"},
	}},
	{Name: "what was set aside is forgotten", Edits: []mutants.Edit{
		{"\t\t\ts.tend(l.subqueues[i])\n", "\t\t\t_ = l.subqueues[i]\n"},
	}},
	{Name: "priority does not count", Edits: []mutants.Edit{
		{
			"return t.due.Add(-s.cfg.AgingStep * time.Duration(t.policy.Priority))",
			"return t.due.Add(-s.cfg.AgingStep * time.Duration(t.policy.Weight))",
		},
	}},
	{Name: "what comes back waits behind the others", Edits: []mutants.Edit{
		{"\tt.since = s.now\n", "\tt.since, t.due = s.now, s.now\n"},
	}},
	{Name: "a label needs no value", Edits: []mutants.Edit{
		{
			"for k, v := range l.labels {\n\t\tif got, ok := w.labels[k]; !ok || got != v {",
			"for k := range l.labels {\n\t\tif _, ok := w.labels[k]; !ok {",
		},
	}},
	{Name: "a tick and its record are stored one after the other", Edits: []mutants.Edit{
		{
			"\"q.\" + e.ID, 0},\n\t\t\tput{\"k.\" + e.Recurrence.Name, tickOf{e.Tick, e.Tick}, sealSubject, e.Guard})",
			"sealSubject, e.Guard})\n\t\tif w.chance(0.9) {\n\t\t\tl.write(1<<60, put{\"k.\" + e.Recurrence.Name, " +
				"tickOf{e.Tick, e.Tick}, sealSubject, e.Guard})\n\t\t}",
		},
	}},
	{Name: "a tick takes the place of what stands there", Edits: []mutants.Edit{
		{"submission{policy: e.Recurrence.Policy}, \"q.\" + e.ID, 0}", "submission{policy: e.Recurrence.Policy}, \"\", 0}"},
	}},
	{Name: "a refusal by another condition than the seal's is not understood", Edits: []mutants.Edit{
		{"if w.refused && !foreign {", "if w.refused && foreign {"},
	}},
	{Name: "an outcome that may be gone is written without looking", Edits: []mutants.Edit{
		{"w.again = !within && (w.again || s.outlived(w))", "w.again = false && within"},
	}},
	{Name: "what escapes a reading is kept for as long as ours", Edits: []mutants.Edit{
		{"kept := w.t.policy.briefest()", "kept := w.t.policy.keeps(w.outcome.Status)"},
	}},
	{Name: "a slow reading sees everything", Edits: []mutants.Edit{
		{"(s.seal.unsure || s.reading > 0 && s.reading >= kept)", "s.seal.unsure"},
	}},
	{Name: "a record is written while it is being erased", Edits: []mutants.Edit{
		{"s.erasing[w.record()] > 0", "s.erasing[w.record()] > 1<<30"},
	}},
	{Name: "the local clock counts", Edits: []mutants.Edit{
		{"\tif !c.Told {\n", "\tif c.Told || !c.Told {\n"},
	}},
	{Name: "what the local clock let wait for a worker goes", Edits: []mutants.Edit{
		{"\tif !first {\n", "\tif first || !first {\n"},
	}},
	{Name: "the stream's clock is never put back", Edits: []mutants.Edit{
		{"case !c.Told || shift <= c.shift && shift >= c.shift-tolerance:", "case !c.Told || shift <= c.shift:"},
	}},
	{Name: "what has never been sent may have been sent before", Edits: []mutants.Edit{
		{" || a.Verdict == Unsent && (e.Frame != w.frame || w.tries > 1) {", " {"},
	}},
	{Name: "the last tick of a definition that cannot be read is removed", Edits: []mutants.Edit{
		{"r.ended, r.order = e.Recurrence == nil && !e.Unreadable, ", "r.ended, r.order = e.Recurrence == nil, "},
	}},
	{Name: "a task that cannot be read is none", Edits: []mutants.Edit{
		{"\treturn o.revision, open\n", "\treturn o.revision, open && o.noted && o.saved\n"},
	}},
	{Name: "the records of a task that cannot be read are removed", Edits: []mutants.Edit{
		{"\treturn is\n}\n\n// unveil", "\treturn false\n}\n\n// unveil"},
	}},
	{Name: "the record of the last tick is not read", Edits: []mutants.Edit{
		{"latest(r.since, r.fired, r.seen)", "latest(r.since, r.seen)"},
	}},
	{Name: "missed ticks are dropped that are all to be run", Edits: []mutants.Edit{
		{"keep = min(keep, maxTicks)", "keep = min(keep, 1)"},
	}},
	{Name: "an outcome that is never stored is written again for ever", Edits: []mutants.Edit{
		{"case w.kind == outcomeWrite && w.outcome.replaceable():", "case false:"},
	}},
	{Name: "a checkpoint that is never stored is acknowledged", Edits: []mutants.Edit{
		{"\ts.settle(w, true)\n\ts.afterSaving(w)", "\ts.settle(w, false)\n\ts.afterSaving(w)"},
	}},
	{Name: "a checkpoint that is never stored is acknowledged when it is told again", Edits: []mutants.Edit{
		{"\t\tr.kept = r.stored\n", ""},
	}},
	{Name: "a checkpoint that is never stored is waited for", Edits: []mutants.Edit{
		{"\ts.settle(w, true)\n\ts.afterSaving(w)", "\ts.settle(w, true)"},
	}},
	{Name: "nobody ends a session in the state of which nothing is left", Edits: []mutants.Edit{
		{"\tl.await(present)\n", "\t_ = l.await\n"},
	}},
	{Name: "a note forgets what the one before tells", Edits: []mutants.Edit{
		{"r.write = write{t: t, noted: t.noted}", "r.write = write{t: t}"},
	}},
	{Name: "a lost attempt is not told", Edits: []mutants.Edit{
		{
			"\treturn Outcome{Cause: CauseWorkerLost, Attempt: x.t.attempt, Tries: x.t.tries() + 1, Instance: x.instance}\n",
			"\treturn Outcome{}\n",
		},
	}},
	{Name: "a dead task is kept like others", Edits: []mutants.Edit{
		{"if status == StatusDead && p.Dead > 0 {", "if status == StatusDead && p.Dead < 0 {"},
	}},
	{Name: "a task ends dead for a loss that it shares", Edits: []mutants.Edit{
		{"if alone && s.dangerous(t, now) {", "if s.dangerous(t, now) {"},
	}},
	{Name: "what a worker was told to stop runs no more", Edits: []mutants.Edit{
		{"w.unsure = s.now, s.now, true", "w.unsure = s.now, s.now, w.unsure"},
	}},
	{Name: "a worker that does not answer is taken for one that has nothing", Edits: []mutants.Edit{
		{"\t\t\ts.emit(Unanswered{w.session, w.instance})\n", "\t\t\tw.synced = true\n"},
	}},
	{Name: "a session at rest is ended though it has begun something since", Edits: []mutants.Edit{
		{"if k.lease.writes == writes && !w.bucket.dead[e.Session]", "if writes >= 0 && !w.bucket.dead[e.Session]"},
	}},
	{Name: "work is begun in a session that was ended at rest", Edits: []mutants.Edit{
		{"\t\tif k.w.bucket.dead[k.session] {\n\t\t\tk.p.outlive()\n\t\t\treturn false\n\t\t}\n", ""},
	}},
	{Name: "what is due at a time is handed out at once", Edits: []mutants.Edit{
		{"\t\tt.due = s.clock.Instant(e.Times.Due(e.Stored))\n", ""},
	}},
	{Name: "a definition of a lower version replaces a higher one", Edits: []mutants.Edit{
		{"\tif d.Version < earlier.Version {\n\t\treturn earlier, false\n\t}\n", ""},
	}},
	{Name: "a definition with the same schedule begins again", Edits: []mutants.Edit{
		{"d.Since, d.Phase = earlier.Start(stored), earlier", "d.Since, d.Phase = stored, earlier"},
	}},
	{Name: "a recurrence that is paused fires", Edits: []mutants.Edit{
		{"\tif r.def.Paused {\n\t\treturn\n\t}\n", ""},
	}},
	{Name: "a tick that waits for a seal is submitted though its recurrence is paused", Edits: []mutants.Edit{
		{"\tif r.def.Paused && s.holdTicks(r) {\n", "\tif r.def.Paused && false {\n"},
	}},
	{Name: "a tick that was on its way to a paused recurrence may land late", Edits: []mutants.Edit{
		{"\t\tr.write, late = nil, w.guard != 0\n", "\t\tr.write = nil\n"},
	}, By: &beside},
	{Name: "a definition ends the pause of the one before it", Edits: []mutants.Edit{
		{
			"d.Since, d.Phase, d.Paused = time.Time{}, time.Time{}, earlier.Paused",
			"d.Since, d.Phase, d.Paused = time.Time{}, time.Time{}, false",
		},
	}},
	{Name: "a change of a recurrence drops what is due", Edits: []mutants.Edit{
		{"\t\tr.seen, r.ready = time.Time{}, nil\n\t}\n", "\t\tr.seen = time.Time{}\n\t}\n\tr.ready = nil\n"},
	}},
	{Name: "the record of a recurrence that was removed stays", Edits: []mutants.Edit{
		{"\tif r.kept {\n\t\ts.erase(", "\tif r.def != nil {\n\t\ts.erase("},
	}},
}

// poisonous are mutants that a task shows which takes the scheduler down with it.
var poisonous = []mutants.Mutant{
	{Name: "nobody is doubted after a crash", Edits: []mutants.Edit{
		{"return t.revision < s.before", "return t.revision == 0"},
	}},
	{Name: "a begun attempt forgets those before it", Edits: []mutants.Edit{
		{"retry: t.note(), noted: t.noted}", "retry: t.note()}"},
	}},
	{Name: "begun attempts are not counted", Edits: []mutants.Edit{
		{"\ts.countBegun()\n", ""},
	}},
}

// rare are those that a world without faults comes to no more, or hardly: the tests beside the
// rules catch them.
var rare = []mutants.Mutant{
	{Name: "a definition that was not seen is gone", Edits: []mutants.Edit{
		{"if !s.settled || !r.ended {", "if !s.settled || !r.ended && r.order > 0 {"},
	}},
	{Name: "a peaceful end clears everybody", Edits: []mutants.Edit{
		{"s.before = l.doubted", "s.before = 0"},
	}},
	{Name: "nobody is told of a worker that does not answer", Edits: []mutants.Edit{
		{"if s.owes(w) && w.silent.Add(s.cfg.Silence) <= s.now {", "if false {"},
	}},
	{Name: "an answer does not end the silence of a worker", Edits: []mutants.Edit{
		{"\tw.silent = s.now\n\tif e.Frame == w.frame", "\tif e.Frame == w.frame"},
	}},
	{Name: "what begun in a peaceful term counts as lost", Edits: []mutants.Edit{
		{"return epoch == s.seal.rested", "return false"},
	}},
	{Name: "what a living worker never had counts as lost", Edits: []mutants.Edit{
		{" || s.lives(b.session)", ""},
	}},
	{Name: "a worker that has died counts as one that lives", Edits: []mutants.Edit{
		{"return w != nil && w.synced", "return w != nil || session > 0"},
	}},
	{Name: "suspects of two groups run together", Edits: []mutants.Edit{
		{"(tries == 0 || tries == group)", "(tries == 0 || group > 0)"},
	}},
	{Name: "suspects are not parted", Edits: []mutants.Edit{
		{"l.group(1), s.cfg.AnswerTime", "l.group(0), s.cfg.AnswerTime"},
	}},
	{Name: "a suspect that must run alone is put beside others", Edits: []mutants.Edit{
		{"if alone && (len(w.held) > 0 || w.shuns > s.now) {", "if alone && len(w.held) > w.slots {"},
	}},
	{Name: "others are put beside a suspect that must run alone", Edits: []mutants.Edit{
		{"return w.alone > now", "return w.alone < 0"},
	}},
	{Name: "others come beside a suspect of which the end is not stored", Edits: []mutants.Edit{
		{"last.alone && last.attempt == w.last.attempt", "last.alone && now < 0"},
	}},
	{Name: "others come where a lone attempt never began before that is stored", Edits: []mutants.Edit{
		{"\t\t\t\ts.keepEmpty(id, b)\n", ""},
	}},
	{Name: "others come where a lone attempt was noted whose end is not stored", Edits: []mutants.Edit{
		{"has expired\n\t\t\ts.keepEmpty(id, b)\n", "has expired\n"},
	}},
	{Name: "a suspect is alone beside what cannot be read", Edits: []mutants.Edit{
		{"\t\tw.unsure = true\n\t\treturn false\n", "\t\treturn false\n"},
	}},
	{Name: "others come beside what cannot be read and runs alone", Edits: []mutants.Edit{
		{"\ts.keepOpaqueAlone()\n", ""},
	}},
	{Name: "others come never where something ran alone that cannot be read", Edits: []mutants.Edit{
		{"max(w.kept, s.clock.Of(o.until))", "never"},
	}},
	{Name: "others come to no worker of what cannot be read", Edits: []mutants.Edit{
		{"if o.alone = 0; r.Alone {", "if o.alone = 0; r.Session != 0 {"},
	}},
	{Name: "no room is made for a suspect that must run alone", Edits: []mutants.Edit{
		{"\t\ts.vacateFor(p, weight)\n", ""},
	}},
	{Name: "a suspect that runs is never cleared", Edits: []mutants.Edit{
		{"return 2*x.ran + s.cfg.LossTime", "return 2000*x.ran + s.cfg.LossTime"},
	}},
	{Name: "an attempt that has ended clears nobody", Edits: []mutants.Edit{
		{"if r.Verb != Released {\n\t\ts.clear(t)", "if r.Verb == Released {\n\t\ts.clear(t)"},
	}},
	{Name: "a checkpoint takes no blame away", Edits: []mutants.Edit{
		{"now.blame /= 2", "now.blame /= 1"},
	}},
	{Name: "a task that advances may lose any number of workers", Edits: []mutants.Edit{
		{" || int(t.crashes)+1 >= maxLosses*s.budget(t)", ""},
	}},
	{Name: "suspicion is not noted", Edits: []mutants.Edit{
		{"\t\tGroup: x.group, Ran: x.ran, Blame: x.blame,\n", "\t\tRan: x.ran,\n"},
	}},
	{Name: "noted suspicion is not read", Edits: []mutants.Edit{
		{"\ts.recallSuspicion(t, r)\n", ""},
	}},
	{Name: "the budget of a kind does not count", Edits: []mutants.Edit{
		{"cmp.Or(t.policy.CrashBudget, s.cfg.CrashBudget)", "cmp.Or(s.cfg.CrashBudget, t.policy.CrashBudget)"},
	}},
	{Name: "what comes beside a lone attempt after its trial is forgotten", Edits: []mutants.Edit{
		{"b.alone && ran+ran/16 <= x.trial(s)", "b.alone"},
	}},
	{Name: "the key limit of a record does not count", Edits: []mutants.Edit{
		{"if t.class.kind.keyBound {", "if t.class.kind.keyBound && t == nil {"},
	}},
	{Name: "a higher key limit lets nobody in", Edits: []mutants.Edit{
		{"\t\t\ts.tend(subqueues[of])\n", "\t\t\t_ = subqueues[of]\n"},
	}},
	{Name: "an override of one limit lifts the others", Edits: []mutants.Edit{
		{"l = b.override.Over(l)", "if b.override != nil {\n\t\tl = b.override.Over(Limits{})\n\t}"},
	}},
	{Name: "limits that come before the first task of a kind do not count", Edits: []mutants.Edit{
		{"\t\ts.kinds[name] = k\n\t\ts.bind(k)\n", "\t\ts.kinds[name] = k\n"},
	}},
	{Name: "what a worker cannot decode fails at once", Edits: []mutants.Edit{
		{"if x.rejections < maxRejections && s.fits(t, true) {", "if x.rejections < 0 && s.fits(t, true) {"},
	}},
	{Name: "workers that cannot decode a task are asked again", Edits: []mutants.Edit{
		{"l.wants(w) && !slices.Contains(l.but, w.build) }", "l.wants(w) }"},
	}},
	{Name: "rejections have no bound", Edits: []mutants.Edit{
		{"if x.rejections < maxRejections && s.fits(t, true) {", "if s.fits(t, true) {"},
	}},
	{Name: "an input that nobody can decode is tried for ever", Edits: []mutants.Edit{
		{"min(t.policy.MaxAttempts, maxUndecoded)", "t.policy.MaxAttempts"},
	}},
	{Name: "a worker of another build is awaited for ever", Edits: []mutants.Edit{
		{"\t\ts.tendUndecoded()\n", ""},
	}},
	{Name: "a busy worker of another build does not count", Edits: []mutants.Edit{
		{
			"unreached && w.mayTake()) && w.slots >= t.class.weight &&",
			"unreached && w.mayTake()) && w.room() >= t.class.weight &&",
		},
	}},
	{Name: "a worker of another build that is out of reach does not count", Edits: []mutants.Edit{
		{"s.fits(t, true)", "s.fits(t, false)"},
	}},
	{Name: "only what is doubted is noted before it begins", Edits: []mutants.Edit{
		{" || len(s.begun) > 0", ""},
	}},
}
