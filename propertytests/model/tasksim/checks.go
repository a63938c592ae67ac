package tasksim

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// checks are what must hold, and what was seen for it.
type checks struct {
	Counts
	neighbours
	dependencies
	broken  error
	acked   map[string]bool
	live    map[string]int
	room    map[*handlerRun]bool     // handlers that run
	largest map[string]tasks.Attempt // attempt that was ever started
	ended   map[string]map[tasks.Attempt]tasks.Verb
	lives   map[string]uint64                   // revision of the present submission
	lifeOf  map[string]map[tasks.Attempt]uint64 // revision of the submission that an attempt was started for
	counted map[life]map[tasks.Attempt]bool     // failures that were settled
	kept    map[life]int                        // the largest checkpoint that was acknowledged
	asked   map[life]bool                       // somebody wants it cancelled
	holder  map[string]string                   // the open task of a unique key
	fired   map[string]int                      // submissions of a tick

	lastTick map[string]time.Time // by recurrence, when it was removed
	heldBack map[string]bool      // likewise: its ticks had to wait
	removed  time.Duration        // when that was, 0: not yet
	resuming bool                 // a recurrence is being resumed
	resumed  time.Time            // when the recurrence that is paused now and then was resumed last
	// resumedAt is how many records were stored until then.
	resumedAt int
	done      map[life]bool   // it has had its outcome
	reused    map[string]bool // ids that were used again after the outcome had expired
	pushed    map[uint64]bool // submissions that were handed out
	bundled   map[life]bool   // those that were stored together with others
}

// life is one submission of a task: one that is submitted again has a new life.
type life struct {
	id       string
	revision uint64
}

func (c *checks) init() {
	c.neighbours.init()
	c.dependencies.init()
	c.acked, c.live, c.room = map[string]bool{}, map[string]int{}, map[*handlerRun]bool{}
	c.largest, c.ended = map[string]tasks.Attempt{}, map[string]map[tasks.Attempt]tasks.Verb{}
	c.lives, c.lifeOf = map[string]uint64{}, map[string]map[tasks.Attempt]uint64{}
	c.counted, c.kept = map[life]map[tasks.Attempt]bool{}, map[life]int{}
	c.asked, c.bundled = map[life]bool{}, map[life]bool{}
	c.done, c.reused, c.pushed = map[life]bool{}, map[string]bool{}, map[uint64]bool{}
	c.holder, c.fired, c.lastTick = map[string]string{}, map[string]int{}, map[string]time.Time{}
	c.heldBack = map[string]bool{}
}

func (c *checks) fail(format string, args ...any) {
	if c.broken == nil {
		c.broken = fmt.Errorf(format, args...)
	}
}

// wrote checks a record that has just been stored over what stood there.
func (w *taskWorld) wrote(subject string, value, before any, revision uint64) {
	family, id, _ := strings.Cut(subject, ".")
	switch v := value.(type) {
	case bundleOf:
		w.opens(v, before, revision)
	case endedOf:
		w.endedOf(id, v, before)
	case tallyOf:
		w.Tallies++
		w.tells(id, v, before)
	case submission:
		w.opened(id, v, before, revision)
	case tasks.Outcome:
		w.outcome(id, v, before)
		w.retain(id, v, before, revision)
		if s, ok := before.(submission); ok && v.Status == tasks.StatusDead && w.chance(0.5) {
			w.after(w.upTo(w.Lease), func() { w.requeue(id, s) })
		}
	case tickOf:
		if old, ok := before.(tickOf); ok && !v.tick.After(old.tick) {
			w.fail("tick %v of %s after %v", v.tick, id, old.tick)
		}
	case recurOf:
		if old, ok := before.(recurOf); ok && v.place.Version < old.place.Version {
			w.fail("version %d of %s replaces version %d", v.place.Version, id, old.place.Version)
		} else if ok && old.place.Paused && !v.place.Paused && !w.resuming {
			w.fail("%s fires again, and nobody has resumed it", id)
		}
	case limitsOf:
		w.bound(v, before)
	case steering:
		if family == "x" {
			w.asked[life{id, w.lives[id]}] = true
		}
	case reserved:
		w.reservedFor(subject, revision)
		if _, vacant := before.(reserved); before != nil && !vacant {
			w.fail("the place of %s was reserved over %T", id, before)
		}
	case uniqueOf:
		if u, ok := before.(uniqueOf); ok && u.task != v.task && w.store.open(u.task) {
			w.fail("the key %s of the open task %s was taken", id, u.task)
		}
	case erased:
		if b, ok := before.(bundleOf); ok {
			w.removes(id, &b)
		}
		if u, ok := before.(uniqueOf); ok {
			if w.Freed++; w.store.open(u.task) {
				w.fail("the key %s of the open task %s was freed", id, u.task)
			}
		}
		if w.store.open(id) && w.ofPresent(id, before) {
			w.fail("%s of the open task was removed", subject)
		}
		if _, defined := w.store.record("r." + id).(recurOf); family == "k" && defined {
			w.fail("the last tick of %s was removed, and it continues", id)
		}
		if family == "x" && w.store.open(id) && w.asked[life{id, w.lives[id]}] {
			w.fail("the request to cancel the open task %s was removed", id)
		}
	}
}

// ofPresent reports whether a note or a checkpoint is of the present submission.
func (w *taskWorld) ofPresent(id string, record any) bool {
	var a tasks.Attempt
	switch r := record.(type) {
	case noteOf:
		a = r.Attempt
	case checkpoint:
		a = r.attempt
	}
	return w.lifeOf[id][a] != 0 && w.lifeOf[id][a] == w.lives[id]
}

func (w *taskWorld) opened(id string, s submission, before any, revision uint64) {
	// its outcome has expired; or somebody knew of no answer until then
	_, vacant := before.(reserved)
	if old := w.lives[id]; old != 0 && (before == nil || vacant) && !w.reused[id] {
		w.reused[id] = true
		w.live[w.task(id, old)] = w.live[id]
		delete(w.live, id)
	}
	w.lives[id] = revision
	w.names(life{id, revision}, s.after)
	if _, open := before.(submission); open {
		w.fail("%s was submitted over an open task", id)
	}
	if s.keys != nil && s.keys.Unique != "" {
		if other := w.holder[s.keys.Unique]; other != "" && other != id {
			w.fail("%s and %s have the unique key %s", other, id, s.keys.Unique)
		}
		w.Keyed++
		w.holder[s.keys.Unique] = id
	}
	if strings.HasPrefix(id, tasks.TickPrefix) && !s.renewed {
		w.Ticks++
		w.acked[id] = true
		w.apart(id, s)
		if w.fired[id]++; w.fired[id] > 1 {
			w.fail("%s was submitted twice", id)
		}
	}
}

// begins takes note of a handler that starts. One of a session whose bucket is gone may run beside
// a later one, and begin after it; nothing that it does counts any more then.
func (w *taskWorld) begins(r *handlerRun, by string) {
	c, id, a, revision, number := &w.checks, r.id, r.attempt, r.revision, r.number
	c.Started++
	if r.outlives {
		c.Outlived++
	} else if c.live[c.task(id, revision)]++; c.live[c.task(id, revision)] > 1 {
		c.fail("two live handlers of %s: attempt %v at %s beside another", id, a, by)
	}
	old, again := c.largest[id]
	if again {
		c.Reruns++
		if a.Compare(old) <= 0 && !r.outlives {
			c.fail("%s runs attempt %v after %v", id, a, old)
		}
	}
	if a.Compare(old) > 0 || !again {
		c.largest[id] = a
	}
	if c.lifeOf[id] == nil {
		c.lifeOf[id] = map[tasks.Attempt]uint64{}
	}
	c.lifeOf[id][a] = revision
	w.runsAfter(life{id, revision})
	if w.revived(life{id, revision}) {
		c.Revived++
	} else if n := c.kept[life{id, revision}]; number < n && !r.outlives {
		c.fail("%s: attempt %v was given checkpoint %d, after %d was acknowledged", id, a, number, n)
	}
	if number > 0 {
		c.Resumed++
	}
	w.crowds(r)
}

// task is what one handler at a time runs: a task, through all its lives but those after its
// outcome has expired.
func (c *checks) task(id string, revision uint64) string {
	if c.reused[id] {
		return fmt.Sprint(id, "@", revision)
	}
	return id
}

// outstays takes note of a handler that was told to stop and runs on: its task is no more than
// another task of that worker.
func (c *checks) outstays(r *handlerRun) {
	if c.Outstayed++; !r.outlives {
		c.live[c.task(r.id, c.lifeOf[r.id][r.attempt])]--
		r.outlives = true
	}
}

func (c *checks) ends(r *handlerRun, v tasks.Verb) {
	id, a := r.id, r.attempt
	if !r.outlives {
		c.live[c.task(id, c.lifeOf[id][a])]--
	}
	delete(c.room, r)
	if c.ended[id] == nil {
		c.ended[id] = map[tasks.Attempt]tasks.Verb{}
	}
	c.ended[id][a] = v
}

// stopped checks what a handler is told of its task when it is stopped: nothing that is not true,
// and if that very attempt was current when its task was cancelled or expired, that.
func (w *taskWorld) stopped(r *handlerRun, end tasks.Status) {
	switch end {
	case tasks.StatusCancelled:
		if !w.asked[life{r.id, r.revision}] && overlaps[recurrenceOf(r.id)] != recurring.CancelRunning {
			w.fail("attempt %v of %s is told that it was cancelled, and nobody had asked for that", r.attempt, r.id)
		}
	case tasks.StatusExpired:
		if !r.mortal {
			w.fail("attempt %v of %s is told that it has expired, and it had no deadline", r.attempt, r.id)
		}
	case "":
		if o, ended := w.store.record("q." + r.id).(tasks.Outcome); ended && o.Attempt == r.attempt &&
			o.Status != tasks.StatusDead && o.Status != tasks.StatusSucceeded {
			w.fail("attempt %v of %s is not told that it is %s", r.attempt, r.id, o.Status)
		}
		return
	default:
		w.fail("attempt %v of %s is told to stop since it is %s", r.attempt, r.id, end)
	}
	w.Told++
}

// outcome checks one that is being stored over what stands there.
func (w *taskWorld) outcome(id string, o tasks.Outcome, over any) {
	c := &w.checks
	c.Outcomes++
	s, open := over.(submission)
	if !open {
		c.fail("second outcome of %s: %+v over %+v", id, o, over)
		return
	}
	w.lastLoss(id, &o)
	c.done[life{id, c.lives[id]}] = true
	c.endings[id] = append(c.endings[id], ending{c.lives[id], o.Status})
	if o.Status == tasks.StatusSkipped {
		w.skips(life{id, c.lives[id]}, s.after)
	}
	if s.keys != nil && c.holder[s.keys.Unique] == id {
		delete(c.holder, s.keys.Unique)
	}
	if o.Cause == tasks.CauseUndecodable {
		c.Undecodable++
	}
	if o.Cause == tasks.CauseUnclosed {
		w.givesUp(id, s.after)
	} else if o.Cause == tasks.CauseOverlap {
		w.replaced(id)
	} else if o.Status == tasks.StatusCancelled {
		if c.Cancelled++; !c.asked[life{id, c.lives[id]}] {
			c.fail("%s was cancelled, and nobody had asked for it", id)
		}
	}
	if o.Cause == tasks.CauseUnstorable {
		of, began := c.lifeOf[id][o.Attempt] // else its worker was lost before
		if o.Status != tasks.StatusDead || !w.tooLarge(id, o.Attempt, 0) || began && of != c.lives[id] {
			c.fail("%s is said to have an outcome that cannot be stored: %+v", id, o)
		}
	}
	if ofResult := o.Status == tasks.StatusSucceeded || o.Cause == tasks.CausePermanent ||
		o.Cause == tasks.CauseMaxAttempts; !ofResult {
		return
	}
	want := tasks.Failed
	switch {
	case o.Status == tasks.StatusSucceeded:
		want = tasks.Succeeded
	case o.Cause == tasks.CausePermanent:
		want = tasks.Permanent
	}
	if o.Attempt != c.largest[id] {
		c.fail("late outcome of %s: of attempt %v, while %v was started", id, o.Attempt, c.largest[id])
	}
	if v := c.ended[id][o.Attempt]; v != want {
		c.fail("outcome of %s: attempt %v has not %v but %v", id, o.Attempt, want, v)
	}
	if o.Cause == tasks.CauseMaxAttempts {
		n := 0
		for a, v := range c.ended[id] {
			if (v == tasks.Failed || v == tasks.Undecodable) && c.lifeOf[id][a] == c.lives[id] {
				n++
			}
		}
		if n < maxAttempts {
			c.fail("%s is dead after %d failures", id, n)
		}
	}
	if c.lifeOf[id][o.Attempt] != c.lives[id] {
		c.fail("outcome of %s: attempt %v was of submission %d, and not of %d", id, o.Attempt, c.lifeOf[id][o.Attempt],
			c.lives[id])
	}
}

// revived reports whether a task has ended, and its outcome has expired, while a scheduler was
// reading: it cannot know.
func (w *taskWorld) revived(of life) bool {
	return w.Retention > 0 && w.done[of] && w.store.at("q."+of.id) != of.revision && !w.bundled[of]
}

// failed takes note of a failure that a scheduler has settled: it must count, for every later
// scheduler too.
func (w *taskWorld) failed(id string, a tasks.Attempt) {
	of := life{id, w.lifeOf[id][a]}
	if w.revived(of) {
		return
	}
	if w.counted[of] == nil {
		w.counted[of] = map[tasks.Attempt]bool{}
	}
	w.counted[of][a] = true
	if n := len(w.counted[of]); n > maxAttempts {
		w.fail("%d settled failures of %s", n, id)
	}
}

var (
	errLost = errors.New("lost")
	errLeft = errors.New("left over")
)

// haunted reports whether a scheduler has a task in its state that has ended, and whose outcome has
// expired, while it was reading: the next one removes what that has left.
func (w *taskWorld) haunted(id string) bool {
	for _, l := range w.leads {
		if g, known := l.s.TaskInfo(l.p.instant(), id); !l.over && known && g.Revision != w.store.at("q."+id) &&
			w.done[life{id, g.Revision}] {
			return true
		}
	}
	return false
}

// over reports whether a task has its outcome, or had it.
func (w *taskWorld) over(id string) bool {
	_, ended := w.store.record("q." + id).(tasks.Outcome)
	return ended || !w.store.open(id) && w.done[life{id, w.lives[id]}]
}

// finish checks what must hold in the end.
func (w *taskWorld) finish() {
	if w.broken != nil {
		return
	}
	for id := range w.acked {
		if !w.over(id) && !w.withheld(id) {
			w.broken = fmt.Errorf("%w: %s was acknowledged and has no outcome; %s", errLost, id, w.describe(id))
			return
		}
	}
	if what := w.store.leftOver(); what != "" {
		w.broken = fmt.Errorf("%w: %s; %s", errLeft, what, w.describe(what[2:]))
		return
	}
	w.checkTicks()
}
