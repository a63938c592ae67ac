package tasks

import (
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// TickPrefix begins the ids of tasks that a recurrence has submitted: nobody else may use it.
const TickPrefix = recurring.Prefix

// TickID is the id of the task of one tick.
func TickID(name string, tick time.Time) string {
	return TickPrefix + name + "/" + tick.UTC().Format("20060102T150405Z")
}

// recur is a recurrence in the state.
//
// Invariant: a tick is submitted together with the record that says so, under the seal. So a
// scheduler that reads that record knows which ticks there are, and none is submitted twice or left
// out because a scheduler died between the two.
type recur struct {
	name  string
	order uint64      // the revision of its definition
	place int32       // in the queue of those whose next tick is to come
	def   *Recurrence // nil: it was removed, cannot be read, or was not seen yet
	since time.Time   // when it was defined
	fired time.Time   // the last tick that was submitted or passed over, zero: none
	last  time.Time   // the last that was submitted, zero: none
	fresh time.Time   // that one, as long as the stream has not shown its task, zero: it has
	told  time.Time   // when the record of it was stored, zero: not known
	kept  bool        // that record stands
	ended bool        // it was removed
	seen  time.Time   // the last tick that was dealt with: submitted, or dropped
	next  time.Time   // the first that is to come, zero: none; it waits for that in the queue
	ready []time.Time // ticks that are to be submitted, the first ones first
	write *write      // of the one that is being submitted, or passed over
}

func (e Defined) apply(s *Scheduler) {
	r := s.recurOf(e.Name)
	r.ended, r.order = e.Recurrence == nil && !e.Unreadable, e.Revision
	s.coming.Remove(r)
	if r.def = e.Recurrence; r.def == nil {
		s.holdTicks(r)
		s.removeTicks(e.Name, r)
		return
	}
	if !e.Since.Equal(r.since) { // another schedule, or the first one
		r.seen, r.ready = time.Time{}, nil
	}
	if r.def.Paused && s.holdTicks(r) {
		s.renew() // else a late copy may land after an earlier tick, if the clock is set back meanwhile
	}
	r.since = e.Since
	if s.settled {
		s.distrust(e.Name, r)
		s.schedule(r)
	}
}

// aheadMost is how far ahead of the stream's clock the last tick is believed: the clocks of its
// servers may differ.
const aheadMost = time.Hour

// distrust does without what a recurrence's records say when that cannot be: a tick is submitted
// when the stream's clock has come to it. One that is far ahead of the clock by which its record
// was stored was submitted by a local clock that was wrong. If it is ahead only of the present
// time, either clock may be the wrong one, then or now: the local clock decides. From then on ticks
// count from now: those that are dropped may have been submitted, and none is to be submitted
// twice.
func (s *Scheduler) distrust(name string, r *recur) {
	if !s.clock.Running() {
		return
	}
	now, local := s.clock.Time(), s.clock.LocalTime(s.now)
	ahead := func(t, of time.Time) bool { return !of.IsZero() && t.Sub(of) > aheadMost }
	absurd := func(t, stored time.Time) bool {
		if !ahead(t, now) {
			return false
		}
		is := ahead(t, stored) || ahead(t, local)
		s.emit(Ahead{Name: name, Tick: t, Now: now, Trusted: !is})
		return is
	}
	if absurd(r.fired, r.told) {
		r.fired, r.seen = time.Time{}, latest(r.seen, now)
	}
	if absurd(r.since, time.Time{}) {
		r.since = now
	}
}

func (e Fired) apply(s *Scheduler) {
	r := s.recurOf(e.Name)
	r.fired, r.last, r.told, r.kept = e.Tick, e.Last, e.Stored, !e.Tick.IsZero()
	if w := r.write; w != nil && w.guard != 0 && !e.Tick.Before(w.tick) {
		s.stored(w, e.Revision)
	}
	if e.Tick.IsZero() || !e.Tick.Before(r.fresh) { // the task stands before this record
		r.fresh = time.Time{}
	}
	if r.def == nil {
		s.removeTicks(e.Name, r)
		return
	}
	if s.settled {
		s.distrust(e.Name, r)
		s.schedule(r)
	}
}

// recurOf is a recurrence in the state. A record of one that is not there, behind our seal, is the
// tick that was on its way when the recurrence was removed.
func (s *Scheduler) recurOf(name string) *recur {
	r := s.recurs[name]
	if r == nil {
		r = &recur{name: name, ended: s.settled}
		s.recurs[name] = r
	}
	return r
}

// holdTicks drops what a recurrence was about to submit, since it is paused or removed. It reports
// whether a write was under way: that may still land, and is seen then.
func (s *Scheduler) holdTicks(r *recur) (late bool) {
	r.seen, r.ready = time.Time{}, nil
	if w := r.write; w != nil {
		delete(s.writes, w.number)
		r.write, late = nil, w.guard != 0
	}
	return late
}

// removeTicks forgets a recurrence that was removed, and the record of its last tick, once all has
// been read. One whose definition was not seen has perhaps not been removed: it was changed while
// all was read, and comes later in the stream.
func (s *Scheduler) removeTicks(name string, r *recur) {
	if !s.settled || !r.ended {
		return
	}
	delete(s.recurs, name)
	if r.kept {
		s.erase(TickRecord, name)
	}
}

// tidyTicks looks at what was read before our seal has told the time.
func (s *Scheduler) tidyTicks() {
	for _, name := range slices.Sorted(maps.Keys(s.recurs)) {
		r := s.recurs[name]
		if r.def == nil {
			s.removeTicks(name, r)
			continue
		}
		s.distrust(name, r)
		s.schedule(r)
	}
}

// schedule finds the next tick of a recurrence, and has it wait for that. One that was given
// another schedule begins when it was: earlier ticks were never its. One that was changed in
// another way continues, with the ticks that are due.
func (s *Scheduler) schedule(r *recur) {
	s.coming.Remove(r)
	if r.def.Paused {
		return
	}
	if !s.clock.Running() { // nobody knows what time it is
		s.unscheduled = true
		return
	}
	if r.next = r.def.Schedule.Next(r.after()); len(r.ready) > 0 && r.write == nil { // they are held back
		s.coming.Add(r, s.clock.Now)
	} else if !r.next.IsZero() {
		s.coming.Add(r, s.clock.Instant(r.next))
	}
}

// Place is where a recurrence keeps its place in the queue.
func (r *recur) Place(uint8) *int32 { return &r.place }

// Order is what decides among ticks of one moment: the order of their definitions.
func (r *recur) Order() uint64 { return r.order }

// after is the moment behind which ticks are still to be dealt with.
func (r *recur) after() time.Time { return latest(r.since, r.fired, r.seen) }

func latest(t time.Time, others ...time.Time) time.Time {
	for _, o := range others {
		if o.After(t) {
			t = o
		}
	}
	return t
}

// fire submits what is due by the stream's clock, as much as one step may. A recurrence has one
// tick under way at a time, so that their order is kept.
func (s *Scheduler) fire() {
	if s.seal.valid == 0 || !s.clock.Running() {
		return
	}
	if s.unscheduled {
		s.unscheduled = false
		s.eachRecurrence(s.schedule)
	}
	for range maxDue {
		r := s.coming.Pop(s.clock.Now)
		if r == nil {
			break
		}
		s.come(r)
	}
}

// come deals with the ticks of a recurrence that have come due.
func (s *Scheduler) come(r *recur) {
	if len(r.ready) == 0 && r.write == nil {
		if s.holds(r) {
			return
		}
		list, dropped, seen := r.def.Due(r.after(), s.clock.Time())
		r.ready, r.seen = list, seen
		s.skipDue(r, dropped)
	}
	s.continueTicks(r)
}

// eachRecurrence does something to all that are defined, in the order of their names.
func (s *Scheduler) eachRecurrence(do func(r *recur)) {
	for _, name := range slices.Sorted(maps.Keys(s.recurs)) {
		if r := s.recurs[name]; r.def != nil {
			do(r)
		}
	}
}

// fireNext submits the first of those that are to be.
func (s *Scheduler) fireNext(r *recur) {
	if r.write != nil || len(r.ready) == 0 || r.def == nil || s.holds(r) {
		return
	}
	r.write = &write{kind: tickWrite, id: r.name, tick: r.ready[0], of: r.def}
	r.ready = r.ready[1:]
	s.send(r.write)
}

// ticked continues after a tick was submitted.
func (s *Scheduler) ticked(w *write) {
	s.emit(Ticked{Name: w.id, Fired: 1})
	r := s.recurs[w.id]
	if r == nil || r.write != w {
		return
	}
	r.write, r.fired, r.kept = nil, latest(r.fired, w.tick), true
	r.last, r.fresh = w.tick, w.tick
	s.continueTicks(r)
}

// continueTicks submits the next tick that is due, or finds the one that will be. Ticks that are
// held back continue when something is freed, see freeTicks.
func (s *Scheduler) continueTicks(r *recur) {
	s.fireNext(r)
	if r.write == nil && r.def != nil && len(r.ready) == 0 {
		s.schedule(r)
	}
}

// Tasks of a recurrence may be kept from overlapping. One is open from its submission to its
// outcome, through all of its attempts, and again once it is requeued.
//
// Invariant: unless its overlap is allowed, a tick is submitted only if the state has no open task
// of the recurrence, and have what the stream has shown of the tick before. A tick that is left out
// is noted as the last one, under the seal: so no later scheduler submits it.

// freeTicks looks at the recurrence of a task that leaves the state: what is held back may
// continue. It does so at the next Tick, since the task may be about to be submitted again.
func (s *Scheduler) freeTicks(id string) {
	name, last := s.instances.Remove(id)
	if r := s.recurs[name]; last && r != nil && r.def != nil && r.def.Overlap != recurring.Allow && s.settled {
		s.schedule(r)
	}
}

// busy reports whether a task of a recurrence is open.
func (s *Scheduler) busy(r *recur) bool { return s.instances.Open(r.name) }

// holds reports whether the ticks of a recurrence that are due have to wait. It cancels the tasks
// that they wait for, if they are to take their place.
func (s *Scheduler) holds(r *recur) bool {
	switch overlap := r.def.Overlap; {
	case overlap == recurring.Allow:
		return false
	case !r.fresh.IsZero():
		return true
	case overlap == recurring.Skip || !s.busy(r):
		return false
	case overlap == recurring.CancelRunning:
		s.replaceRunning(r)
	}
	return true
}

// replaceRunning cancels the open tasks of a recurrence, but for one that cannot be read here.
func (s *Scheduler) replaceRunning(r *recur) {
	for _, id := range s.instances.Of(r.name) {
		if t := s.tasks.get(id); t != nil && t.phase != ending {
			s.abort(t, StatusCancelled, CauseOverlap)
		}
	}
}

// skipDue leaves out ticks that are due, of which some have been dropped: all of them while a task
// is open, where it says so. It notes the last of those that are left out if none is submitted
// instead.
func (s *Scheduler) skipDue(r *recur, dropped int) {
	skipped := 0
	if r.def.Overlap == recurring.Skip && len(r.ready) > 0 && s.busy(r) {
		skipped, r.ready = len(r.ready), nil
	}
	if dropped+skipped == 0 {
		return
	}
	s.emit(Ticked{Name: r.name, Dropped: dropped, Skipped: skipped})
	if len(r.ready) == 0 {
		r.write = &write{kind: passWrite, id: r.name, tick: r.seen}
		s.send(r.write)
	}
}

// passed continues after it is noted that ticks were left out.
func (s *Scheduler) passed(w *write) {
	if r := s.recurs[w.id]; r != nil && r.write == w {
		r.write, r.fired, r.kept = nil, latest(r.fired, w.tick), true
		s.continueTicks(r)
	}
}
