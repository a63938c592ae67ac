package tasks

const maxWatched = 4096

// apply begins to tell what happens to a task, or to all of them, for a while.
func (e Watched) apply(s *Scheduler) {
	if e.ID == "" {
		s.feeding = s.now.Add(e.For)
		return
	}
	if _, known := s.watched[e.ID]; !known && len(s.watched) >= maxWatched {
		for id, until := range s.watched {
			if until <= s.now {
				delete(s.watched, id)
			}
		}
		if len(s.watched) >= maxWatched {
			return
		}
	}
	s.watched[e.ID] = s.now.Add(e.For)
	s.changed = append(s.changed, e.ID)
}

// Watching reports whether what happens to a task is told.
func (s *Scheduler) Watching(id string) bool {
	_, ok := s.watched[id]
	return ok
}

// notice takes down that something happened to a task. It is told at the end of the step, when the
// state is consistent.
func (s *Scheduler) notice(t *task) {
	if len(s.watched) > 0 && s.Watching(t.id()) {
		s.changed = append(s.changed, t.id())
	}
}

// noticeMove is notice for a task that was in another phase. About all tasks it is told that one is
// new, that a worker has accepted it or gives it back, that an attempt has failed.
func (s *Scheduler) noticeMove(t *task, from taskPhase) {
	if s.feeding > s.now && (from == nowhere || from == running || t.phase == running || t.phase == noting) &&
		t.phase != ending && t.phase != nowhere {
		s.changed = append(s.changed, t.id())
		return
	}
	s.notice(t)
}

func (s *Scheduler) emitChanged() {
	why := s.reasons(s.now)
	for i, id := range s.changed {
		if i+1 < len(s.changed) && s.changed[i+1] == id {
			continue
		}
		if s.watched[id] <= s.now {
			delete(s.watched, id)
			if s.feeding <= s.now {
				continue
			}
		}
		if t := s.tasks.get(id); t != nil {
			s.emit(TaskChanged{Info: s.taskInfo(s.now, t, why)})
		}
	}
	clear(s.changed)
	s.changed = s.changed[:0]
}

// tellEnded is the last that is told of a task.
func (s *Scheduler) tellEnded(t *task, out *Outcome) {
	if s.feeding <= s.now && !s.Watching(t.id()) {
		return
	}
	g := s.taskInfo(s.now, t, s.reasons(s.now))
	g.State, g.Running, g.Tries = State(out.Status), false, out.Tries
	end := *out
	s.emit(TaskChanged{Info: g, Outcome: &end})
	delete(s.watched, t.id())
}
