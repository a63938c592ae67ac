package tasksim

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// fairKind is the kind whose keys take turns. In every other world all its tasks share one limit
// key. They have no others.
const fairKind = "fair"

// turn is how long a fair key waits for its own.
type turn struct {
	first  string         // its first task that waits
	beside map[string]int // keys that have waited, or gone, meanwhile, and the largest share of each
	passed int            // tasks of the kind that have gone meanwhile
}

// fairKeyOf is the fair key of a submission.
func fairKeyOf(k *tasks.Keys) string {
	if k == nil {
		return ""
	}
	return k.Fair
}

// checkTurns notes a task of the kind that is handed out for the first time. Tasks that were tried
// before are left out, which may be of another class.
func (l *lead) checkTurns(instance string, handed *tasks.TaskInfo) {
	if handed.Kind != fairKind {
		return
	}
	key := fairKeyOf(handed.Keys)
	delete(l.model.turns, key)
	if instance != l.p.name && handed.Tries <= 1 { // there it may have been chosen long before
		l.model.went = append(l.model.went, key)
	}
}

// late checks after a step: while the keys that wait have shares of n together the first task of
// each goes within 2n tasks of the kind. A step sends all that it has chosen in frames, and their
// order is not that of the choice.
func (l *lead) late() {
	went := l.model.went
	if len(went) == 0 {
		return
	}
	l.model.went = nil
	all, _ := l.s.List(l.p.instant(), 0, tasks.Filter{}, 1<<20)
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
	for _, k := range slices.Sorted(maps.Keys(firsts)) {
		t := l.model.turns[k]
		if t == nil || t.first != firsts[k] {
			t = &turn{first: firsts[k], beside: map[string]int{}}
			l.model.turns[k] = t
		}
		share := l.model.limits[fairKind].share
		for _, key := range went {
			t.beside[key] = max(t.beside[key], share(key))
		}
		for other := range firsts {
			t.beside[other] = max(t.beside[other], share(other))
		}
		if slices.Contains(went, k) {
			continue
		}
		together := 0
		for _, n := range t.beside {
			together += n
		}
		l.w.Turns += len(went)
		if together > len(t.beside) {
			l.w.Shares += len(went)
		}
		if t.passed += len(went); t.passed > 2*together {
			l.w.fail("%s of key %q waits while %d tasks of keys with shares of %d go", t.first, k, t.passed, together)
		}
	}
}

// turned notes that a task was chosen for a worker of the scheduler's own process.
func (l *lead) turned(id string) {
	if s, ok := l.w.store.record("q." + id).(submission); ok {
		delete(l.model.turns, fairKeyOf(s.keys))
	}
}

// sharesOf are the shares of fair keys: those that a program declares, and those that count instead
// while an operator says so.
type sharesOf struct{ shares, instead map[string]int }

func (x sharesOf) share(key string) int {
	if x.instead != nil {
		return max(x.instead[key], 1)
	}
	return max(x.shares[key], 1)
}

// shareOut keeps shares of fair keys in the record of their kind, which an operator overrides, and
// restores.
func (w *taskWorld) shareOut() {
	if !w.Sharing || w.calm {
		return
	}
	instead := map[string]int{}
	for n := range w.rng.IntN(3) {
		instead[fmt.Sprint("f", n)] = 1 + w.rng.IntN(4)
	}
	if w.chance(0.3) {
		instead = nil
	}
	w.rebind("l."+fairKind, func(x limitsOf) (limitsOf, bool) {
		x.sharesOf = sharesOf{map[string]int{"f0": 3}, instead}
		w.Reshared++
		return x, true
	})
	w.after(w.upTo(5*w.Lease), w.shareOut)
}
