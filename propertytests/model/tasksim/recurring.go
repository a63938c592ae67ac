package tasksim

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// every are the moments at a distance from each other.
type every struct{ step time.Duration }

func (e every) Next(t time.Time) time.Time { return t.Truncate(e.step).Add(e.step) }

// wall is the wall clock.
func (w *taskWorld) wall(at time.Duration) time.Time {
	return time.Unix(1_800_000_000, 0).Add(at).UTC()
}

// recurrences are the definitions of one run. None is written while faults last but in the
// beginning, and all are removed some time after they have ended.
var recurrences = []tasks.Recurrence{
	plan("all", 3*time.Second, recurring.CatchUpAll, time.Second),
	plan("latest", 2*time.Second, recurring.CatchUpLatest, time.Second),
	plan(held, 2*time.Second, recurring.CatchUpAll, time.Second),
	plan("skip", 2*time.Second, recurring.CatchUpSkip, 3*time.Second),
	apart(skipping, 2*time.Second, recurring.CatchUpLatest),
	apart(queueing, 3*time.Second, recurring.CatchUpAll),
	apart(replacing, 3*time.Second, recurring.CatchUpLatest),
}

// held is the recurrence that is paused now and then.
const held = "held"

func plan(name string, step time.Duration, catchUp recurring.CatchUp, window time.Duration) tasks.Recurrence {
	return tasks.Recurrence{Name: name, Plan: recurring.Plan{Schedule: every{step}, CatchUp: catchUp, Window: window}}
}

func (w *taskWorld) recur() {
	if !w.Recurring {
		return
	}
	policy := w.treatments()[0].policy
	for i := range recurrences {
		r := recurrences[i]
		r.Policy = policy
		later := w.Versions && w.chance(0.5)
		w.after(w.upTo(w.Length/4), func() {
			w.store.write(put{subject: "r." + r.Name, value: recurOf{of: &r, later: later}})
			for range 3 {
				w.after(w.upTo(w.Length), func() { w.redefine(r.Name) })
			}
			if r.Name == held {
				w.hold()
			}
		})
	}
	for n := 0; n < 2 && w.Retention == 0; n++ { // somebody submits a tick by hand, which only schedulers should
		r := recurrences[w.rng.IntN(len(recurrences))]
		tick := r.Schedule.Next(w.wall(w.upTo(w.Length)))
		id := tasks.TickID(r.Name, tick)
		w.after(w.upTo(w.Length), func() {
			if w.wall(w.store.clock()).Before(tick) && w.store.record("r."+r.Name) != nil {
				w.Squatted++
				w.store.write(put{"q." + id, submission{policy: policy, byHand: true}, "q." + id, 0})
			}
		})
	}
	w.after(w.Length, func() {
		_, most := w.store.aheadSince(0)
		enough := 15 * w.Lease
		if w.Steps > 0 {
			enough += noticed
		}
		w.once(w.Length+most+enough, w.removal) // later than it has ever been
	})
}

// hold pauses a recurrence for a while, and later again.
func (w *taskWorld) hold() {
	w.after(w.upTo(w.Length/3), func() {
		w.move(held, recurring.Definition.Pause)
		w.after(w.upTo(w.Length/3), func() {
			w.resuming = true
			w.move(held, recurring.Definition.Resume)
			w.resuming = false
			last, _ := w.store.record("k." + held).(tickOf)
			for _, t := range []time.Time{w.wall(w.store.clock()), last.tick} {
				if t.After(w.resumed) {
					w.resumed = t
				}
			}
			w.resumedAt = len(w.store.log)
			if w.now < w.Length/2 {
				w.hold()
			}
		})
	})
}

// move stores the definition of a recurrence with another place.
func (w *taskWorld) move(name string, to func(d recurring.Definition, stored time.Time) recurring.Definition) {
	old, ok := w.store.record("r." + name).(recurOf)
	if !ok {
		return
	}
	stored := w.wall(w.store.log[w.store.last["r."+name]-1].clock)
	old.place = to(old.place, stored)
	w.store.write(put{subject: "r." + name, value: old})
	w.PausedTicks++
}

// redefine has programs of two versions define a recurrence, in another way than its schedule: no
// tick is lost by that, and the higher version stays.
func (w *taskWorld) redefine(name string) {
	old, ok := w.store.record("r." + name).(recurOf)
	if !ok {
		return
	}
	stored := w.wall(w.store.log[w.store.last["r."+name]-1].clock)
	next, ok := recurring.Definition{Version: w.rng.IntN(3)}.Over(old.place, stored)
	if !ok {
		w.Lower++
		return
	}
	r := *old.of
	r.Window += time.Millisecond
	w.store.write(put{subject: "r." + name, value: recurOf{&r, old.later, next}})
	w.Redefined++
}

// continues is from when the ticks of the recurrence count that was paused, by its last resumption.
// Where a clock was set back, a tick that was on its way may land after that. It stands for those
// before it.
func (w *taskWorld) continues() time.Time {
	if w.Steps == 0 {
		return w.resumed
	}
	for _, e := range w.store.log[min(w.resumedAt, len(w.store.log)):] { // it may have been recreated
		if t, ok := e.value.(tickOf); ok && e.subject == "k."+held && t.tick.After(w.resumed) {
			return t.tick
		}
	}
	return w.resumed
}

// removal removes the definitions, when somebody has led for some time after the faults, and has
// read the stream before that.
func (w *taskWorld) removal() {
	if !slices.ContainsFunc(w.procs, func(p *participant) bool {
		return p.term != nil && p.term.able() && p.term.s.Ready() && w.now > p.term.model.ready+6*w.Lease
	}) {
		w.after(w.Lease, w.removal)
		return
	}
	w.removed = w.now
	for _, r := range recurrences {
		w.heldBack[r.Name] = w.waits(r.Name)
		if t, ok := w.store.record("k." + r.Name).(tickOf); ok {
			w.lastTick[r.Name] = t.tick
		}
		w.store.write(put{subject: "r." + r.Name, value: erased{}})
	}
}

// checkTicks: under CatchUpAll each tick was submitted, from the definition until it was removed,
// and not one more.
func (w *taskWorld) checkTicks() {
	if !w.Recurring {
		return
	}
	if w.removed == 0 {
		w.fail("nobody has led for some time after the faults")
		return
	}
	ahead, _ := w.store.aheadSince(w.removed - noticed)
	for _, r := range recurrences {
		last := w.lastTick[r.Name]
		if late := w.wall(w.removed + ahead).Sub(last); late > patience && !w.heldBack[r.Name] {
			w.fail("the last tick of %s was submitted %v before the end", r.Name, late)
		}
		var since time.Time
		for _, e := range w.store.log {
			if e.subject == "r."+r.Name {
				since = w.wall(e.clock)
				break
			}
		}
		if r.Name == held {
			since = w.continues()
		}
		n := 0
		for t := r.Schedule.Next(since); !t.After(last); t = r.Schedule.Next(t) {
			n += w.fired[tasks.TickID(r.Name, t)]
			if r.CatchUp == recurring.CatchUpAll && w.fired[tasks.TickID(r.Name, t)] == 0 {
				w.broken = fmt.Errorf("%w: tick %v of %s", errLost, t, r.Name)
				return
			}
		}
		if n == 0 && !w.heldBack[r.Name] {
			w.fail("no tick of %s", r.Name)
		}
	}
}
