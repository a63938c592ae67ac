package tasks

import (
	"maps"
	"slices"
	"time"
)

// TickPrefix begins the ids of tasks that a recurrence has submitted: nobody else may use it.
const TickPrefix = "cron/"

// TickID is the id of the task of one tick.
func TickID(name string, tick time.Time) string {
	return TickPrefix + name + "/" + tick.UTC().Format("20060102T150405Z")
}

// recur is a recurrence on the books.
//
// Invariant: a tick is submitted together with the record that says so, under the seal. So a
// scheduler that reads that record knows which ticks there are, and none is submitted twice or left
// out because a scheduler died between the two.
type recur struct {
	def   *Recurrence // nil: it was removed, or cannot be read
	blind bool        // it cannot be read
	since time.Time   // when it was defined
	fired time.Time   // the last tick that was submitted, zero: none
	told  time.Time   // when the record of it was stored, zero: not known
	kept  bool        // that record stands
	seen  time.Time   // the last tick that was dealt with: submitted, or dropped
	next  time.Time   // the first that is to come, zero: none
	ready []time.Time // ticks that are to be submitted, the first ones first
	write *write      // of the one that is being submitted
}

func (e Defined) apply(s *Scheduler) {
	r := s.recurOf(e.Name)
	r.blind = e.Unreadable
	if r.def = e.Recurrence; r.def == nil {
		if r.write != nil { // it may still land, and is seen then
			delete(s.writes, r.write.number)
			r.write = nil
		}
		s.removeTicks(e.Name, r)
		return
	}
	r.since, r.seen, r.ready = e.Since, time.Time{}, nil
	if s.settled {
		s.distrust(e.Name, r)
	}
	s.schedule(r)
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
	r.fired, r.told, r.kept = e.Tick, e.Stored, !e.Tick.IsZero()
	if w := r.write; w != nil && w.guard != 0 && !e.Tick.Before(w.tick) {
		s.stored(w, e.Revision)
	}
	if r.def == nil {
		s.removeTicks(e.Name, r)
		return
	}
	if s.settled {
		s.distrust(e.Name, r)
	}
	s.schedule(r)
}

func (s *Scheduler) recurOf(name string) *recur {
	r := s.recurs[name]
	if r == nil {
		r = &recur{}
		s.recurs[name] = r
	}
	return r
}

// removeTicks forgets a recurrence that is not defined, and the record of its last tick, once all
// has been read: the definition comes later in the stream when it was changed since.
func (s *Scheduler) removeTicks(name string, r *recur) {
	if !s.settled || r.blind {
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

// schedule finds the next tick of a recurrence. One that has been changed begins when it was:
// earlier ticks were never its.
func (s *Scheduler) schedule(r *recur) {
	r.next = r.def.Schedule.Next(r.after())
	if !r.next.IsZero() && (s.nextDue.IsZero() || r.next.Before(s.nextDue)) {
		s.nextDue = r.next
	}
}

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

// fire submits what is due by the stream's clock. A recurrence has one tick under way at a time, so
// that their order is kept.
func (s *Scheduler) fire() {
	now := s.clock.Time()
	if s.seal.valid == 0 || s.nextDue.IsZero() || !s.clock.Running() || now.Before(s.nextDue) {
		return
	}
	s.nextDue = time.Time{}
	for _, name := range slices.Sorted(maps.Keys(s.recurs)) {
		r := s.recurs[name]
		if r.def == nil {
			continue
		}
		if len(r.ready) == 0 && r.write == nil && !r.next.IsZero() && !now.Before(r.next) {
			list, dropped, seen := r.def.due(r.after(), now)
			r.ready, r.seen = list, seen
			if dropped > 0 {
				s.emit(Ticked{Name: name, Dropped: dropped})
			}
		}
		s.fireNext(name, r)
		if r.write == nil { // else when that is known
			s.schedule(r)
		}
	}
}

// fireNext submits the first of those that are to be.
func (s *Scheduler) fireNext(name string, r *recur) {
	if r.write != nil || len(r.ready) == 0 || r.def == nil {
		return
	}
	r.write = &write{kind: tickWrite, id: name, tick: r.ready[0], of: r.def}
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
	s.goOn(w.id, r)
}

// goOn submits the next tick that is due, or finds the one that will be.
func (s *Scheduler) goOn(name string, r *recur) {
	s.fireNext(name, r)
	if r.write == nil && r.def != nil {
		s.schedule(r)
	}
}

const (
	maxTicks = 1000   // of one recurrence that are submitted late
	maxSteps = 10_000 // that are counted one by one
)

// due is what becomes of the ticks after after, up to now: those that are to be submitted, in
// order, how many are dropped, and the last one that was looked at.
//
// A tick is missed when it is older than the grace. RunLatest submits one for all that are due,
// missed or not.
func (r *Recurrence) due(after, now time.Time) (list []time.Time, dropped int, seen time.Time) {
	all, left := r.ticks(after, now)
	dropped, seen = left, after
	if len(all) > 0 {
		seen = all[len(all)-1]
	}
	keep := len(all)
	switch r.Missed {
	case RunAll:
		keep = min(keep, maxTicks)
	case Skip:
		for keep > 0 && now.Sub(all[len(all)-keep]) > r.Grace {
			keep--
		}
	default:
		keep = min(keep, 1)
	}
	return all[len(all)-keep:], dropped + len(all) - keep, seen
}

// ticks are those after after, up to now, at most the newest maxTicks of them. After a very long
// time it begins closer to the end, and does not count what it has left out.
func (r *Recurrence) ticks(after, now time.Time) (all []time.Time, left int) {
	steps := 0
	for t := r.Schedule.Next(after); !t.IsZero() && !t.After(now); t = r.Schedule.Next(t) {
		if steps++; steps > maxSteps {
			return r.newest(after, now), left
		}
		if len(all) == 2*maxTicks {
			left += maxTicks
			all = append(all[:0], all[maxTicks:]...)
		}
		all = append(all, t)
	}
	if n := len(all) - maxTicks; n > 0 {
		all, left = all[n:], left+n
	}
	return all, left
}

// newest looks back from now, further and further, until there are enough.
func (r *Recurrence) newest(after, now time.Time) (all []time.Time) {
	const most = 100 * 365 * 24 * time.Hour
	for back := time.Minute; ; back *= 4 {
		from := after
		if back < most {
			from = latest(after, now.Add(-back))
		}
		all = all[:0]
		for t := r.Schedule.Next(from); !t.IsZero() && !t.After(now); t = r.Schedule.Next(t) {
			if all = append(all, t); len(all) > 2*maxSteps {
				all = append(all[:0], all[maxSteps:]...)
			}
		}
		if len(all) >= maxTicks || !from.After(after) {
			return all[max(len(all)-maxTicks, 0):]
		}
	}
}
