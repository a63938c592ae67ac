package tasksim

import (
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// Recurrences whose tasks must not overlap.
const (
	skipping  = "skipping"
	queueing  = "queueing"
	replacing = "replacing"
)

// overlaps is what becomes of a tick of each of them while a task is open.
var overlaps = map[string]recurring.Overlap{
	skipping: recurring.Skip, queueing: recurring.Queue, replacing: recurring.CancelRunning,
}

// apart is a recurrence of which one task at a time is open.
func apart(name string, step time.Duration, catchUp recurring.CatchUp) tasks.Recurrence {
	r := plan(name, step, catchUp, time.Second)
	r.Overlap = overlaps[name]
	return r
}

// recurrenceOf is the name of the recurrence whose task has an id, "" for none.
func recurrenceOf(id string) string {
	id, ok := strings.CutPrefix(id, tasks.TickPrefix)
	if !ok {
		return ""
	}
	return id[:strings.LastIndexByte(id, '/')]
}

// openOf are the open tasks of a recurrence, and the revisions of their submissions.
func (w *taskWorld) openOf(name string) (ids []string) {
	for subject := range w.store.last {
		if id, ok := strings.CutPrefix(subject, "q."); ok && recurrenceOf(id) == name && w.store.open(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// patience is how long after the end of a task the next tick may be submitted.
const patience = 12 * time.Second

// waits reports whether the ticks of a recurrence may be late: one of its tasks is open, or has
// ended lately, and they come one after the other.
func (w *taskWorld) waits(name string) bool {
	if overlaps[name] == recurring.Allow {
		return false
	}
	for i := len(w.store.log) - 1; i >= 0 && w.now-w.store.log[i].at < patience; i-- {
		if id, ok := strings.CutPrefix(w.store.log[i].subject, "q."); ok && recurrenceOf(id) == name {
			return true
		}
	}
	return len(w.openOf(name)) > 0
}

// apart checks a tick that is being stored: no other is open that a scheduler has submitted. One
// that is requeued or submitted by hand may come at the same time.
func (w *taskWorld) apart(id string, s submission) {
	name := recurrenceOf(id)
	if overlaps[name] == recurring.Allow || s.byHand {
		return
	}
	for _, other := range w.openOf(name) {
		if o, _ := w.store.record("q." + other).(submission); other != id && !o.byHand && !o.renewed {
			w.fail("%s was submitted, and %s is open", id, other)
		}
	}
}

// decides checks a tick that a scheduler asks for, when it does so for the first time: it knows of
// no open task of the recurrence, by hand or not.
func (l *lead) decides(e *tasks.WriteTick) {
	name := e.Recurrence.Name
	if l.model.ticks[name].Equal(e.Tick) {
		return
	}
	l.model.ticks[name] = e.Tick
	if overlaps[name] == recurring.Allow {
		return
	}
	if l.w.wall(l.w.store.clock()).Sub(e.Tick) > time.Second {
		l.w.Waited++
	}
	for _, other := range l.w.openOf(name) {
		if l.w.store.last["q."+other] <= uint64(l.read) {
			l.w.fail("%s asks for tick %v of %s, and knows that %s is open", l.p.name, e.Tick, name, other)
		}
	}
}

// passes checks a tick that a scheduler leaves out.
func (l *lead) passes(e *tasks.WritePass) {
	if last, ok := l.w.store.record("k." + e.Name).(tickOf); ok && e.Last.After(last.tick) {
		l.w.fail("%s: the last tick of %s is %v, and not %v", l.p.name, e.Name, last.tick, e.Last)
	}
}

// replaced checks the end of a task in whose place another one is to come.
func (w *taskWorld) replaced(id string) {
	if w.Replaced++; overlaps[recurrenceOf(id)] != recurring.CancelRunning {
		w.fail("%s was cancelled for a tick", id)
	}
}
