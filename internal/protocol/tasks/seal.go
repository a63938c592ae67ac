package tasks

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// seal is what makes the server refuse a deposed scheduler's writes: one record that every write of
// the scheduler names by its revision. While it is not known to be ours and the last, nothing is
// written.
//
// It is renewed after every unknown outcome and every reconnect: late copies of our own writes name
// the old revision and are refused too, so what the stream has shown by then is all that there is.
type seal struct {
	revision uint64 // the last one that the stream has shown, 0: none
	epoch    uint64
	crashed  bool   // the scheduler before did not end cleanly
	doubted  uint64 // what that one has left when it has
	rested   uint64 // its epoch then, else 0
	since    uint64 // the one that its term began with

	second bool    // one more is wanted before anything is written, see sealed
	third  uint64  // how many were wanted after the second, since something may have been missed
	from   uint64  // the first of them
	former uint64  // the one before the last: of what was stored before that, nothing has escaped the reading
	unsure bool    // what stood before the first may have been missed all the same
	valid  uint64  // the revision under which writes go out, 0: none, and one is wanted
	write  uint64  // the attempt in flight, 0: none
	retry  Instant // not before this is another attempt made
	fails  int

	trouble int  // seals in a row under which no write was stored
	foreign bool // another one was shown since the last under which writes went out

	// A write was refused for its other condition, see holdSeal.
	under   uint64  // it was written under this one, 0: the next one is not held back
	awaited int     // answers to all that went out under that with another condition
	early   Instant // what retry was
}

func (l *seal) due() Instant {
	if l.valid != 0 || l.write != 0 || l.retry == 0 {
		return never
	}
	return l.retry
}

// renew gets a new seal, and holds all writes back until it stands.
func (s *Scheduler) renew() {
	s.seal.valid = 0
	s.tendSeal()
}

// tendSeal writes the seal when one is wanted.
func (s *Scheduler) tendSeal() {
	l := &s.seal
	if !s.caughtUp || l.write != 0 || l.valid != 0 || s.now < l.retry {
		return
	}
	if l.epoch > s.epoch {
		s.end(Fenced{By: l.epoch})
		return
	}
	s.last++
	l.write, l.under, l.awaited, l.early = s.last, 0, 0, 0
	s.writes[s.last] = &write{kind: sealWrite, number: s.last}
	s.emit(WriteSeal{Write: s.last, Expect: l.revision, Epoch: s.epoch})
}

// holdSeal holds the next seal back, since a write that went out under this one was refused for its
// other condition, as far as we know. The others may be refused likewise, and once another seal of
// ours is under way that may be what they are refused for. So the answers to all of them are
// awaited first, but not for longer than a write takes. Else each seal would settle one of them.
func (s *Scheduler) holdSeal(under uint64) {
	l := &s.seal
	l.under, l.awaited, l.early = under, 0, l.retry
	for _, w := range s.writes {
		if w.guard == under && w.twofold() {
			l.awaited++
		}
	}
	l.retry = max(l.retry, s.now.Add(s.cfg.WriteTime))
}

// answered counts an answer that the next seal is held back for.
func (s *Scheduler) answered() {
	l := &s.seal
	if l.awaited--; l.awaited == 0 {
		l.retry = l.early
		s.tendSeal()
	}
}

func (c CaughtUp) apply(s *Scheduler) {
	s.caughtUp = true
	s.tendSeal()
}

func (e SealSeen) apply(s *Scheduler) {
	l := &s.seal
	if e.Revision <= l.revision {
		return
	}
	if !e.Ours {
		l.crashed, l.doubted, l.rested, l.foreign = !e.Clean, e.Doubted, 0, true
		if l.since = 0; e.Clean {
			l.rested, l.since = e.Epoch, e.Since
		}
	}
	l.revision, l.epoch, l.retry = e.Revision, e.Epoch, 0
	if e.Ours {
		s.timeFromSeal(e.Stored)
	}
	if l.write != 0 { // it was this one, or it has come too late
		delete(s.writes, l.write)
		l.write = 0
	}
	switch {
	case e.Epoch > s.epoch:
		s.end(Fenced{By: e.Epoch})
	case !s.caughtUp:
	case e.Ours && e.Epoch == s.epoch:
		s.sealed(&e)
	default:
		s.renew()
	}
}

// sealed begins to write under a seal that the stream has shown. All that was written under earlier
// ones has been shown already, or never will be: what is still wanted is written again.
//
// But what was shown may be out of date. A subject has one record: the outcome of a dead task that
// is submitted again is gone as soon as the new submission is stored, and that may be behind our
// seal. A reading that has passed the former submission before, and comes to the outcome after, has
// seen neither of the two: it believes the task to be open as it was. The new submission was in the
// stream when the reading passed the outcome, so it stands before any seal that is written later.
// So a second one is awaited whenever somebody's outcome may have escaped us: in the beginning, and
// after one of our own about which nothing is known. Afterwards only we end tasks, so nothing is
// submitted again that we have not ended.
//
// Outcomes are written again without a seal: a deposed scheduler has them stay and leave, and a
// client does so before it submits a task with a unique key again. So the record in the outcome's
// place may be replaced, too, before the reading comes to it, and that may be behind our second
// seal. Package gaps tells whether that can have been, and then one more seal is awaited, until it
// cannot.
//
// If nobody can tell after very many, we begin all the same. But then the outcome of a task that
// was submitted before the seals is written only over its own submission: so no second one is
// stored, and no later submission is lost.
func (s *Scheduler) sealed(e *SealSeen) {
	l, all := &s.seal, s.outstanding()
	l.fails = 0
	missed := l.second && e.Missed != 0 && e.Missed <= l.from
	switch {
	case !l.second:
		l.third, l.from = 0, e.Revision
		l.second = !s.settled || slices.ContainsFunc(all, (*write).doubtful)
	case missed && l.third < mostSeals:
		l.third++
	default:
		l.second = false
		l.unsure = l.unsure || missed && !s.settled
	}
	if l.second {
		l.former = e.Revision
		s.tendSeal()
		return
	}
	l.valid = e.Revision
	foreign := l.foreign
	l.foreign = false
	clear(s.erasing) // copies of those are refused from now on
	if !s.settled {
		s.first = e.Revision
	}
	if !s.settled && s.began != 0 {
		s.reading = s.now.Sub(s.began)
	}
	for _, w := range all {
		if w.refused && !foreign {
			s.overtaken(w)
			continue
		}
		w.refused = false
		w.again = w.again || missed && w.doubtful()
		s.send(w)
	}
	if !s.settled {
		s.settled = true
		s.before = l.doubted
		if l.crashed {
			s.before = e.Revision
		}
		s.tidy()
	}
}

// mostSeals is how many more are written until what may have been missed is left open. Each takes a
// round trip, and what makes one more necessary is a record that is written twice within it.
const mostSeals = 256

// sealWritten is the outcome of the seal. The stream confirms one that was won, and then has also
// shown all that came before; it explains one that was refused, and resolves one that is unknown.
// If it does not, another is written.
func (s *Scheduler) sealWritten(o record.Outcome) {
	l := &s.seal
	l.write = 0
	if o == record.Won {
		l.retry = s.now.Add(s.cfg.WriteTime)
		return
	}
	l.fails++
	l.retry = s.now.Add(min(50*time.Millisecond<<min(l.fails-1, 10), retryCap))
	if o == record.Refused && l.fails >= rereadAfter {
		s.emit(Reread{})
	}
}

// rereadAfter is how many seals in a row come to nothing until a refused one means that the reading
// lags: what stands there has not been shown in a second and more.
const rereadAfter = 6

// timeFromSeal takes the time from a seal of ours. The first one puts back what waits for a worker
// too early: the local clock may be ahead, or the first record was stored before the stream's clock
// was put back.
func (s *Scheduler) timeFromSeal(stored time.Time) {
	if stored.IsZero() {
		return
	}
	first := !s.clock.Told
	s.clock.FromSeal(s.now, stored)
	if !first {
		return
	}
	for t := range s.tasks.all() {
		if (t.phase == waiting || t.phase == parked) && t.due > s.clock.Now && t.due != t.stored {
			s.unqueue(t)
			s.postpone(t, t.due)
		}
	}
}
