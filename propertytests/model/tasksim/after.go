package tasksim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// dependencies is what is known, from outside, about tasks that wait for others.
type dependencies struct {
	by      map[string][]string // the tasks that have ever named a task
	before  map[life][]uint64   // by a task that waits: which submission of each task it means, 0: there was none
	endings map[string][]ending // of a task, through all its lives
	latest  map[string]uint64   // the last submission of a task that waits
}

type ending struct {
	of     uint64 // the submission
	status tasks.Status
}

func (d *dependencies) init() {
	d.by, d.before, d.endings = map[string][]string{}, map[life][]uint64{}, map[string][]ending{}
	d.latest = map[string]uint64{}
}

// afterOf draws what a task waits for: tasks that are there mostly.
func (w *taskWorld) afterOf(id string) *groups.After {
	if !w.Chained || !w.chance(0.3) {
		return nil
	}
	a := &groups.After{Ended: w.chance(0.3)}
	for range 1 + w.rng.IntN(3) {
		up := ""
		for range 8 {
			if up = fmt.Sprint("t", w.rng.IntN(w.Tasks)); w.store.last["q."+up] > 0 && up != id {
				break
			}
		}
		if !w.poisonous(up) {
			a.IDs = append(a.IDs, up)
		}
	}
	if len(a.IDs) == 0 {
		return nil
	}
	return a
}

func (w *taskWorld) poisonous(id string) bool { return w.Poisons > 0 && w.poison(id) }

// names takes note of a submission that waits for others.
func (w *taskWorld) names(of life, a *groups.After) {
	if a == nil {
		return
	}
	var before []uint64
	for _, up := range a.IDs {
		if !slices.Contains(w.by[up], of.id) {
			w.by[up] = append(w.by[up], of.id)
		}
		before = append(before, 0)
		if w.store.last["q."+up] > 0 && up != of.id {
			before[len(before)-1] = w.lives[up]
		}
	}
	w.before[of], w.latest[of.id] = before, of.revision
	w.tell(of.id, "waits for %v at %v", a.IDs, before)
}

// satisfied reports whether the number i of the tasks that a task names has had the end that it
// waits for.
func (w *taskWorld) satisfied(of life, a *groups.After, i int) bool {
	for _, e := range w.endings[a.IDs[i]] {
		if e.of >= w.before[of][i] && (a.Ended || e.status == tasks.StatusSucceeded) {
			return true
		}
	}
	return false
}

// runsAfter checks a task that begins: what it waits for has ended.
func (w *taskWorld) runsAfter(of life) {
	s, ok := w.store.submitted(of.id, of.revision)
	if !ok || s.after == nil {
		return
	}
	w.Chains++
	if s.after.Group > 0 {
		w.completes(of, s.after.Group)
	}
	for i, up := range s.after.IDs {
		if !w.satisfied(of, s.after, i) {
			w.fail("%s runs, and %s has not ended so: %+v", of.id, up, w.endings[up])
		}
	}
}

// skips checks a task that is skipped: one that it waits for has failed, or was not there.
func (w *taskWorld) skips(of life, a *groups.After) {
	w.Skipped++
	if a == nil {
		w.fail("%s is skipped, and waits for nothing", of.id)
		return
	}
	for i, up := range a.IDs {
		before := w.before[of][i]
		if before == 0 || w.store.vacant(up) || w.latest[up] > of.revision || w.reused[up] && w.lives[up] > before {
			return // it was not there, or its outcome has left before the scheduler read who names it
		}
		for _, e := range w.endings[up] {
			if e.of >= before && e.status != tasks.StatusSucceeded && !a.Ended {
				return
			}
		}
	}
	w.fail("%s is skipped, and nothing that it waits for has failed: %v", of.id, a.IDs)
}

// needed is an open task in the state of a scheduler that names another one, "" for none.
func (l *lead) needed(id string) string {
	for _, by := range l.w.by[id] {
		g, open := l.s.TaskInfo(l.p.instant(), by)
		if !open {
			continue
		}
		if s, ok := l.w.store.submitted(g.ID, g.Revision); ok && s.after != nil && slices.Contains(s.after.IDs, id) {
			return by
		}
	}
	return ""
}

// keeps is the record of an outcome that a scheduler wants stored. It checks whether that is to
// stay.
func (l *lead) keeps(e *tasks.WriteOutcome) any {
	if by := l.needed(e.ID); by != "" && !e.Kept {
		l.w.fail("the outcome of %s would leave, and %s names it", e.ID, by)
	}
	if e.Kept {
		return lasting{e.Outcome}
	}
	return e.Outcome
}

// change makes an outcome stay, or leave after its time, as the driver of a scheduler does. It
// reads the record, and writes it again under the condition that it is still that one. The last
// wish for a task counts.
func (l *lead) change(id string, stay bool) {
	if by := l.needed(id); by != "" && !stay {
		l.w.fail("the outcome of %s is released, and %s names it", id, by)
	}
	l.wishes[id]++
	l.tryChange(id, stay, l.wishes[id])
}

func (l *lead) tryChange(id string, stay bool, wish int) {
	w, subject := l.w, "q."+id
	again := func() {
		w.after(w.Lease/10+w.upTo(w.Lease/10), func() { l.p.does(func() { l.tryChange(id, stay, wish) }) })
	}
	if !l.able() || l.wishes[id] != wish {
		return
	}
	if l.p.cut || !w.calm && w.chance(w.Loss) {
		again()
		return
	}
	sequence := w.store.last[subject]
	_, ended := w.store.record(subject).(tasks.Outcome)
	switch {
	case w.store.vacant(id):
		if stay {
			l.step(tasks.Absent{ID: id})
		}
	case !ended:
		if _, open := l.s.TaskInfo(l.p.instant(), id); !open && stay {
			again()
		}
	case w.store.stays[sequence] == stay:
		l.changed(id, stay)
	default:
		w.after(w.travel(), func() {
			if w.store.last[subject] != sequence {
				again()
				return
			}
			w.store.rewrite(subject, stay)
			w.after(w.travel(), func() { l.p.does(func() { l.changed(id, stay) }) })
		})
	}
}

func (l *lead) changed(id string, stay bool) {
	l.w.tell(id, "%s@%d has made it stay: %t", l.p.name, l.epoch, stay)
	if o, ended := l.w.store.record("q." + id).(tasks.Outcome); ended && stay {
		l.step(tasks.Kept{ID: id, Status: o.Status})
	}
}

// rewrite stores an outcome once more, to stay or to leave after its time.
func (s *taskStream) rewrite(subject string, stay bool) {
	r := s.log[s.last[subject]-1]
	r.at, r.clock, r.over = s.w.now, s.clock(), s.last[subject]
	s.log = append(s.log, r)
	sequence := uint64(len(s.log))
	s.last[subject] = sequence
	if stay {
		s.stays[sequence] = true
		s.w.Stayed++
		return
	}
	_, id, _ := strings.Cut(subject, ".")
	s.w.retain(id, r.value.(tasks.Outcome), nil, sequence)
}

// forgotten is an outcome that stays for nobody, "" for none.
func (s *taskStream) forgotten() string {
	for subject, n := range s.last {
		if _, id, _ := strings.Cut(subject, "."); s.stays[n] && !s.w.wanted(id) {
			return subject
		}
	}
	return ""
}

// wanted reports whether an open task names another one.
func (w *taskWorld) wanted(id string) bool {
	for _, by := range w.by[id] {
		if s, open := w.store.record("q." + by).(submission); open && s.after != nil && slices.Contains(s.after.IDs, id) {
			return true
		}
	}
	return false
}
