package tasksim

import (
	"maps"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// rewrites has outcomes written again by those who need no seal for it: deposed schedulers, which
// have them stay and leave, and clients, which are about to submit a task again. They choose those
// that a scheduler which reads the stream has still to come to.
func (w *taskWorld) rewrites() {
	if w.Rewrites == 0 {
		return
	}
	w.after(w.upTo(2*w.Rewrites), func() {
		if w.calm {
			return
		}
		if all := w.ahead(); len(all) > 0 {
			subject := all[w.rng.IntN(len(all))]
			w.tell(subject[2:], "the outcome at %d is written again", w.store.last[subject])
			w.store.rewrite(subject, w.store.stays[w.store.last[subject]])
			w.Ahead++
		}
		w.rewrites()
	})
}

// ahead are the outcomes that were stored since a reading has begun, and that it has still to come
// to before its scheduler hands anything out.
func (w *taskWorld) ahead() (all []string) {
	if w.Renames && w.chance(0.2) {
		return w.ofEarlierGroups()
	}
	for _, l := range w.leads {
		if l.over || l.s.Ready() {
			continue
		}
		for i := max(l.read, l.snapshot); i < len(w.store.log); i++ {
			r := &w.store.log[i]
			if _, ended := r.value.(tasks.Outcome); ended && w.store.last[r.subject] == uint64(i+1) &&
				strings.HasPrefix(r.subject, "q.") {
				all = append(all, r.subject)
			}
		}
	}
	return all
}

// ofEarlierGroups are the members that have ended of groups whose name is used again.
func (w *taskWorld) ofEarlierGroups() (all []string) {
	for _, subject := range slices.Sorted(maps.Keys(w.store.last)) {
		id := subject[2:]
		completion, _, member := groups.MemberOf(id)
		_, ended := w.store.record(subject).(tasks.Outcome)
		if member && ended && w.lives[id] < w.lives[completion] {
			all = append(all, subject)
		}
	}
	return all
}
