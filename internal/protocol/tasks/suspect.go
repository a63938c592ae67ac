package tasks

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// A worker is lost with everything that it runs, and one of these tasks may have taken it down. All
// of them are suspects then, in two groups, and a worker runs suspects of one group at a time,
// beside any tasks that are not suspected. When it is lost again those that were suspects are
// parted again, and the others are a group of their own. So a culprit is soon the only suspect of a
// worker, and every further loss is blamed on it.
//
// Invariant: a task ends for the workers that it has lost only when it was the one task that its
// worker ran. So nothing ends for what its neighbour has done. A suspect that the next loss could
// end is isolated: it gets a worker that runs nothing, and that is given nothing else. Only the
// worker knows what else runs in its process: handlers that were told to stop, also by an earlier
// scheduler or in an earlier session. So it takes what is isolated when it runs nothing at all.
// Where it refuses, other tasks have most of its time. A scheduler that cannot read the task keeps
// that promise too, see keepOpaqueAlone.
//
// A suspect is cleared when an attempt of it has ended, or has run twice as long as the one that
// was lost. Its blame stays, and is halved with each loss of an attempt that has stored a
// checkpoint: a task that advances is not what takes workers down. So all losses of a task have a
// bound too.
//
// Where a worker says which host it is on, or what else it shares with others, see Member.Shares,
// two that are lost within the time in which a loss is known count as one loss, and make no
// suspects: the host was lost, and none of their tasks has taken it down. That holds for what had
// begun when the first was known to be lost, and for what the second was sent and has never
// answered. Both may have died of what the second one has begun later. A task that has lost as many
// workers as it may be blamed for is not excused any more: some tasks take their host down.
//
// Those that had run for a shorter time are parted from those that had run longer, and are tried
// first: so nobody waits for much longer than it had run itself.

// maxLosses is how many times its budget a task may lose its worker, however it advances.
const maxLosses = 10

// suspicion is what is held against a task that has lost a worker.
type suspicion struct {
	group uint64        // 0: it is cleared
	ran   time.Duration // how long the attempt that was lost had run
	blame int           // losses in which it was the only suspect
}

// loss is what a worker ran when it was lost.
type loss struct {
	id       uint64 // of its session, or of the epoch
	instance string
	alone    bool // if it was one task: nothing else can have run there
	list     []lostTask
}

type lostTask struct {
	t        *task
	ran      time.Duration
	suspect  bool
	instance string
}

func (l *loss) add(t *task, ran time.Duration, suspect bool) {
	l.list = append(l.list, lostTask{t, ran, suspect, l.instance})
}

// lose ends the attempts that ran on a worker when it was lost.
func (s *Scheduler) lose(l *loss) {
	if len(l.list) == 0 {
		return
	}
	defer s.tellSuspects(l)
	alone := l.alone && len(l.list) == 1
	accused := slices.DeleteFunc(slices.Clone(l.list), func(x lostTask) bool { return !x.suspect })
	if len(accused) == 0 {
		accused = l.list
	} else {
		for _, x := range l.list {
			if !x.suspect {
				s.suspect(x, l.group(2), 0)
			}
		}
	}
	if len(accused) == 1 {
		s.blame(&accused[0], l, alone)
		return
	}
	slices.SortFunc(accused, func(a, b lostTask) int {
		return cmp.Or(cmp.Compare(a.ran, b.ran), cmp.Compare(a.t.Order(), b.t.Order()))
	})
	half := (len(accused) + 1) / 2
	for _, x := range accused[:half] {
		s.suspect(x, l.group(0), 0)
	}
	for _, x := range accused[half:] {
		s.suspect(x, l.group(1), s.cfg.AnswerTime)
	}
}

// fewSuspects is how many suspects are told of by name.
const fewSuspects = 3

// tellSuspects tells of the tasks that a loss leaves suspected, before any of them is handed out
// again: they may take down the next worker too.
func (s *Scheduler) tellSuspects(l *loss) {
	told := Suspected{Instance: l.instance}
	for _, x := range l.list {
		now := s.suspects[x.t.id()]
		if now.group == 0 || now.group>>2 != l.id {
			continue
		}
		if told.N++; len(told.IDs) < fewSuspects {
			told.IDs = append(told.IDs, x.t.id())
		}
		if now.blame >= told.Blame {
			told.Blame, told.Budget = now.blame, s.budget(x.t)
		}
	}
	if told.N > 0 {
		s.emit(told)
	}
}

// fall is the first of the workers that were lost of those that share something.
type fall struct {
	id     uint64               // of the loss
	at     Instant              // when it was known
	before map[string]suspicion // what was held against its tasks until then
}

// falls takes note of a lost worker, and returns the one before it with which it counts as one.
func (s *Scheduler) falls(w *worker, l *loss) (with *fall) {
	if len(w.shares) == 0 {
		return nil
	}
	maps.DeleteFunc(s.fallen, func(_ string, f *fall) bool { return s.now.Sub(f.at) > s.cfg.LossTime })
	now := &fall{id: l.id, at: s.now, before: map[string]suspicion{}}
	for _, x := range l.list {
		now.before[x.t.id()] = s.suspects[x.t.id()]
	}
	for _, what := range w.shares {
		f := s.fallen[what]
		if f == nil || f.at < w.since { // it has come after that
			s.fallen[what] = now
		} else if with == nil || f.at < with.at {
			with = f
		}
	}
	return with
}

// excuse makes the tasks of a lost worker wait again that have not taken it down, since another one
// was lost beside it. No suspicion is left against those of that one either, but against what has
// begun since by a note that says it runs alone: as long as that stands nothing comes beside it, or
// a later scheduler would take it for what its neighbour has done. (A scheduler that takes over
// before their next notes finds the earlier ones.)
func (s *Scheduler) excuse(l *loss, with *fall) {
	if with == nil {
		return
	}
	var excused []lostTask
	l.list = slices.DeleteFunc(l.list, func(x lostTask) bool {
		if (x.ran < s.now.Sub(with.at) && x.t.phase != pushed) || int(x.t.crashes) >= s.budget(x.t) {
			delete(with.before, x.t.id()) // it may have taken down both
			return false
		}
		excused = append(excused, x)
		return true
	})
	for _, id := range slices.Sorted(maps.Keys(with.before)) {
		t := s.tasks.get(id)
		if t != nil && s.suspects[id].group>>2 == with.id && int(t.crashes) <= s.budget(t) && !s.begun[id].alone {
			s.hold(t, with.before[id])
		}
	}
	clear(with.before)
	l.alone = l.alone && len(excused) == 0
	for _, x := range excused {
		s.again(x.t, Retry{Crashes: 1}, CauseWorkerLost, x.outcome(), nil)
	}
}

// group names one of the groups that a loss makes.
func (l *loss) group(n uint64) uint64 { return l.id<<2 | n }

// suspect puts a task into a group.
func (s *Scheduler) suspect(x lostTask, group uint64, wait time.Duration) {
	now := s.suspects[x.t.id()]
	now.group, now.ran = group, x.ran
	s.suspects[x.t.id()] = now
	s.again(x.t, Retry{Crashes: 1, Wait: max(wait, 0)}, CauseWorkerLost, x.outcome(), nil)
}

// outcome is how the attempt of a lost worker has ended.
func (x *lostTask) outcome() Outcome {
	return Outcome{Cause: CauseWorkerLost, Attempt: x.t.attempt, Tries: x.t.tries() + 1, Instance: x.instance}
}

// against adds the suspicion of a task to its note.
func (s *Scheduler) against(t *task, r Retry) Retry {
	x := s.suspects[t.id()]
	return Retry{
		Attempt: r.Attempt, Failures: r.Failures, Crashes: r.Crashes, Snoozes: r.Snoozes,
		Group: x.group, Ran: x.ran, Blame: x.blame,
	}
}

// blame counts a loss against the only suspect.
func (s *Scheduler) blame(x *lostTask, l *loss, alone bool) {
	t, now := x.t, s.suspects[x.t.id()]
	if t.run != nil && t.run.stored > 0 {
		now.blame /= 2
	}
	if alone && s.dangerous(t, now) {
		s.finish(t, &Outcome{
			Status: StatusDead, Cause: CauseWorkerLost, Attempt: t.attempt, Tries: t.tries() + 1, Instance: l.instance,
		}, nil)
		return
	}
	now.blame = min(now.blame+1, s.budget(t)-1)
	s.suspects[t.id()] = now
	s.suspect(*x, l.group(0), 0)
}

// budget is how many losses a task may be blamed for.
func (s *Scheduler) budget(t *task) int { return cmp.Or(t.policy.CrashBudget, s.cfg.CrashBudget) }

// dangerous reports whether one more loss would be too many.
func (s *Scheduler) dangerous(t *task, x suspicion) bool {
	return x.blame+1 >= s.budget(t) || int(t.crashes)+1 >= maxLosses*s.budget(t)
}

// group is that of a suspect, 0 for any other task.
func (s *Scheduler) group(t *task) uint64 { return s.suspects[t.id()].group }

// isolated reports whether a suspect must run alone.
func (s *Scheduler) isolated(t *task) bool {
	x := s.suspects[t.id()]
	return x.group != 0 && s.dangerous(t, x)
}

// clear ends suspicion. The blame stays.
func (s *Scheduler) clear(t *task) {
	x, was := s.suspects[t.id()]
	if x.group = 0; x.blame == 0 {
		delete(s.suspects, t.id())
	} else if was {
		s.suspects[t.id()] = x
	}
}

// trial is how long a suspect runs until it is cleared. The loss of a worker is known late, so what
// was lost seems to have run for longer than it has.
func (x *suspicion) trial(s *Scheduler) time.Duration { return 2*x.ran + s.cfg.LossTime }

// accused reports whether a task with a worker is a suspect, and until when.
func (s *Scheduler) accused(t *task) (until Instant, is bool) {
	x := s.suspects[t.id()]
	until = t.run.began.Add(x.trial(s))
	return until, x.group != 0 && until > s.now
}

// try has a worker try a suspect.
func (s *Scheduler) try(w *worker, t *task) {
	if until, is := s.accused(t); is {
		w.group, w.trial = s.group(t), max(w.trial, until)
		if s.isolated(t) {
			w.alone = max(w.alone, until)
		}
	}
}

// tried finds out what a worker still tries.
func (s *Scheduler) tried(w *worker) {
	w.group, w.trial, w.alone = 0, w.kept, w.kept
	for _, t := range w.held {
		s.try(w, t)
	}
}

// trying is the group whose suspects a worker tries, 0 for none.
func (w *worker) trying(now Instant) uint64 {
	if w.trial <= now {
		return 0
	}
	return w.group
}

// isolates reports whether a worker is given nothing beside a suspect that must run alone. When
// the suspect has ended, or never began, that has to be stored first, if there is a note that it
// has begun: until then a later scheduler takes it for what the worker has died of.
func (s *Scheduler) isolates(w *worker, now Instant) bool {
	last := s.begun[w.last.id]
	return w.alone > now || last.alone && last.attempt == w.last.attempt
}

// suspectKey is the part of a class's name that says whose suspects it is of: they hold back nobody
// else, and nobody else holds them back.
func (s *Scheduler) suspectKey(t *task, group uint64) string {
	key := "\x00\x00" + strconv.FormatUint(group, 36)
	if s.isolated(t) {
		key += " alone"
	}
	return key
}

// recallSuspicion takes over what an earlier scheduler has noted.
func (s *Scheduler) recallSuspicion(t *task, r Retry) {
	s.hold(t, suspicion{r.Group, r.Ran, r.Blame})
}

// hold makes that what is held against a task.
func (s *Scheduler) hold(t *task, x suspicion) {
	if x.group != 0 || x.blame != 0 {
		s.suspects[t.id()] = x
	} else if len(s.suspects) > 0 {
		delete(s.suspects, t.id())
	}
	switch {
	case t.run != nil && t.run.hasSlot: // it gets the class when its worker has it no more
		s.tried(t.run.worker)
	case s.keyOf(t) == t.class.key:
	case t.phase == waiting, t.phase == parked:
		s.restand(t)
	default:
		s.reclass(t)
	}
}
