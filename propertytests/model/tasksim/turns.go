package tasksim

import (
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// fairKind is the kind whose keys take turns. Its tasks have no other keys.
const fairKind = "fair"

// turn is how long a fair key waits for its own.
type turn struct {
	first  string          // its first task that waits
	beside map[string]bool // keys that have waited, or gone, meanwhile
	passed int             // tasks of the kind that have gone meanwhile
}

// fairKeyOf is the fair key of a submission.
func fairKeyOf(k *tasks.Keys) string {
	if k == nil {
		return ""
	}
	return k.Fair
}

// checkTurns: with n keys waiting the first task of each goes within 2n tasks of the kind. Tasks
// that were tried before are left out, which may be of another class.
func (l *lead) checkTurns(instance string, handed *tasks.TaskInfo, all []tasks.TaskInfo) {
	if handed.Kind != fairKind {
		return
	}
	key := fairKeyOf(handed.Keys)
	delete(l.model.turns, key)
	if instance == l.p.name || handed.Tries > 1 { // there it may have been chosen long before
		return
	}
	firsts, oldest := map[string]string{}, map[string]uint64{}
	for i := range all {
		g := &all[i]
		if k := fairKeyOf(g.Keys); g.Kind == fairKind && g.Waiting > 0 && g.Tries == 0 && g.Attempt.IsZero() &&
			(firsts[k] == "" || g.Revision < oldest[k]) {
			firsts[k], oldest[k] = g.ID, g.Revision
		}
	}
	for k := range l.model.turns {
		if firsts[k] == "" {
			delete(l.model.turns, k)
		}
	}
	for k, first := range firsts {
		t := l.model.turns[k]
		if t == nil || t.first != first {
			t = &turn{first: first, beside: map[string]bool{}}
			l.model.turns[k] = t
		}
		t.beside[key] = true
		for other := range firsts {
			t.beside[other] = true
		}
		if k == key {
			continue
		}
		l.w.Turns++
		if t.passed++; t.passed > 2*len(t.beside) {
			l.w.fail("%s of key %q waits while %d tasks of %d keys go", first, k, t.passed, len(t.beside))
		}
	}
}

// turned notes that a task was chosen for a worker of the scheduler's own process.
func (l *lead) turned(id string) {
	if s, ok := l.w.store.record("q." + id).(submission); ok {
		delete(l.model.turns, fairKeyOf(s.keys))
	}
}
