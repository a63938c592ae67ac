package tasks

import (
	"cmp"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

type writeKind uint8

const (
	sealWrite writeKind = iota
	outcomeWrite
	noteWrite
	startWrite // a note that an attempt is about to begin
	checkpointWrite
	eraseWrite
	freeWrite // of a unique key
	tickWrite
	passWrite  // of a recurrence, whose tick is left out
	tallyWrite // of a group
)

var writeNames = [...]string{
	"seal", "outcome", "note", "note", "checkpoint", "erase", "unique", "tick", "tick", "group",
}

// write is one that was asked for and whose outcome is not known.
type write struct {
	kind    writeKind
	number  uint64 // of the last attempt
	guard   uint64 // under which it went out, 0: it waits for a seal
	t       *task
	outcome Outcome // of a note: of the attempt that it counts
	asked   moment  // when an outcome was first asked for, zero: not yet, or the time is not known
	again   bool    // it may have stood there, and be gone
	stays   bool    // others wait for its task: it was written to stay
	whole   bool    // the record of a group says that all of its members have ended
	refused bool    // under a seal of ours that was valid, as far as we know
	retry   Retry
	noted   bool  // a note stands there, or may
	ref     any   // the caller that waits for it
	refs    []any // other callers that wait

	what   Record // to erase, of id
	id     string // of a task, a unique key or a recurrence
	expect uint64 // where others write too: the revision at which it must stand

	data []byte // a checkpoint
	ran  int64  // of which Progressed
	next *write // the checkpoint to be written after it
	tick time.Time
	of   *Recurrence
}

const (
	maxWaiting = 64   // that wait for one write beside the first
	maxEarly   = 8192 // reports of one worker that wait until the state is complete; its slots and its outbox are fewer
)

// doubtful reports whether a write is an outcome that may have been stored, and its place taken
// since.
func (w *write) doubtful() bool { return w.kind == outcomeWrite && w.guard != 0 }

// twofold reports whether a write has another condition than the seal's.
func (w *write) twofold() bool { return w.kind == tickWrite || w.kind == outcomeWrite && w.again }

// moment is one on both scales of the scheduler.
type moment struct{ own, stream Instant }

// age is how long ago a moment was, by the clock that says more: the stream's may have been put
// forward since, and ours may have learned that it had been ahead.
func (s *Scheduler) age(m moment) time.Duration {
	return max(s.now.Sub(m.own), s.clock.Now.Sub(m.stream))
}

// outlived reports whether an outcome may have been stored, by us or by an earlier scheduler, and
// be gone already, or soon: its retention counts by the stream's clock. Then nothing tells any more
// that the task has ended, and its id may be in use again. An earlier scheduler may have stored one
// while we read what stood before our seal, behind our back. That one may say something else than
// ours, and be kept for less long. Or it may have been written again whenever we came to it.
func (s *Scheduler) outlived(w *write) bool {
	kept := w.t.policy.briefest()
	kept -= kept / 10
	if w.t.revision < s.first && (s.seal.unsure || s.reading > 0 && s.reading >= kept) {
		return true
	}
	return w.asked != (moment{}) && s.age(w.asked) >= kept
}

// waits adds somebody who waits for a write.
func (w *write) waits(ref any) {
	switch {
	case ref == nil:
	case w.ref == nil:
		w.ref = ref
	default:
		if len(w.refs) >= maxWaiting { // a caller without an answer asks again
			w.refs = slices.Delete(w.refs, 0, 1)
		}
		w.refs = append(w.refs, ref)
	}
}

// settle answers all who wait for a write.
func (s *Scheduler) settle(w *write, stale bool) {
	if w.ref != nil {
		s.emit(Settle{Ref: w.ref, Stale: stale})
	}
	for _, r := range w.refs {
		s.emit(Settle{Ref: r, Stale: stale})
	}
	w.ref, w.refs = nil, nil
}

// outstanding are the writes that are wanted, in the order in which they were.
func (s *Scheduler) outstanding() []*write {
	all := make([]*write, 0, len(s.writes))
	for _, w := range s.writes {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *write) int { return cmp.Compare(a.number, b.number) })
	return all
}

// send asks for a write under the present seal, or keeps it until there is one.
func (s *Scheduler) send(w *write) {
	if w.number != 0 {
		delete(s.writes, w.number)
	}
	if w.kind == eraseWrite && w.expect == 0 && s.keep(w) {
		return
	}
	s.last++
	w.number, w.guard = s.last, s.seal.valid
	s.writes[w.number] = w
	if w.guard == 0 {
		return
	}
	if w.kind != eraseWrite && s.erasing[w.record()] > 0 {
		w.guard = 0
		s.renew()
		return
	}
	switch t := w.t; w.kind {
	case outcomeWrite:
		m, within := s.member(t)
		// the record beside a bundle tells whether an outcome of a member was stored, and stays
		w.again = !within && (w.again || s.outlived(w))
		w.stays = s.edges.Needed(t.id())
		if s.clock.Told && w.asked == (moment{}) {
			w.asked = moment{s.now, s.clock.Now}
		}
		s.emit(WriteOutcome{
			w.number, w.guard, t.id(), t.revision, t.policy.Kind, t.tag(), t.policy.keeps(w.outcome.Status), w.outcome,
			w.again, w.noted, w.stays, m,
		})
	case noteWrite, startWrite:
		s.emit(WriteNote{w.number, w.guard, t.id(), t.revision, w.retry, w.outcome, w.noted})
	case checkpointWrite:
		s.emit(WriteCheckpoint{w.number, w.guard, t.id(), w.retry.Attempt, w.data})
	case eraseWrite:
		if w.expect == 0 {
			s.erasing[w.record()]++
		}
		s.emit(Erase{w.number, w.guard, w.what, w.id, w.expect})
	case freeWrite:
		s.emit(FreeUnique{w.number, w.expect, w.id})
	case tallyWrite:
		s.sendTally(w)
	case tickWrite:
		s.emit(WriteTick{w.number, w.guard, TickID(w.id, w.tick), w.tick, w.of})
	case passWrite:
		s.emit(WritePass{w.number, w.guard, w.id, w.tick, s.recurs[w.id].last})
	}
}

// record names what a write of the scheduler's own records belongs to, "" for none of those.
//
// Invariant: none of them is written while one of the same task or recurrence is being erased under
// the same seal: a task that was submitted again under the id of one that has ended could lose its
// records to a late copy of that. A new seal shuts it out.
func (w *write) record() string {
	switch {
	case w.kind == noteWrite || w.kind == startWrite || w.kind == checkpointWrite:
		return w.t.id()
	case w.kind == tickWrite || w.kind == passWrite || w.kind == eraseWrite && w.what == TickRecord:
		return "tick of " + w.id
	case w.kind == eraseWrite:
		return w.id
	}
	return ""
}

// keep reports whether a record that was to be erased says something again: its task or recurrence
// is there again. It is erased with that then.
func (s *Scheduler) keep(w *write) bool {
	if w.what == TickRecord {
		r := s.recurs[w.id]
		return r != nil && r.def != nil
	}
	t := s.tasks.get(w.id)
	if t == nil {
		return s.remember(w.id, w.what == NoteRecord, w.what == CheckpointRecord)
	}
	t.noted = t.noted || w.what == NoteRecord
	t.saved = t.saved || w.what == CheckpointRecord
	return true
}

func (e Written) apply(s *Scheduler) {
	w := s.writes[e.Write]
	if w == nil {
		return
	}
	guard, twofold := w.guard, w.twofold()
	switch {
	case w.kind == sealWrite:
		delete(s.writes, e.Write)
		s.sealWritten(e.Outcome)
	case e.Outcome == record.Won:
		s.seal.trouble = 0
		s.stored(w, e.Revision)
	case e.Outcome == record.Refused && w.expect != 0:
		delete(s.writes, e.Write) // somebody else has written there meanwhile, and that counts
	case guard != s.seal.valid: // a new seal is under way, and decides
		w.refused = w.refused || twofold && guard == s.seal.under && e.Outcome == record.Refused
	case e.Outcome == record.Refused:
		w.refused = twofold
		s.emit(Refused{Op: writeNames[w.kind]})
		s.renewSlowly(w)
	default:
		s.renewSlowly(w)
	}
	if twofold && guard == s.seal.under {
		s.answered()
	}
}

// renewSlowly is renew after a write that was not stored. When the one after the new seal is not
// stored either, the next seal takes its time: a write that the server never takes must not become
// a loop.
func (s *Scheduler) renewSlowly(w *write) {
	if l := &s.seal; l.trouble > 0 {
		l.retry = s.now.Add(min(50*time.Millisecond<<min(l.trouble-1, 10), retryCap))
	}
	if s.seal.trouble++; w.refused {
		s.holdSeal(w.guard)
	}
	s.renew()
}

// stored continues after a write, known to be stored by its acknowledgement or by the stream.
func (s *Scheduler) stored(w *write, revision uint64) {
	delete(s.writes, w.number)
	w.number = 0
	s.settle(w, false)
	switch w.kind {
	case eraseWrite:
		if n := w.record(); w.expect == 0 && s.erasing[n] > 1 {
			s.erasing[n]--
		} else if w.expect == 0 {
			delete(s.erasing, n)
		}
	case outcomeWrite:
		id, shown := w.t.id(), w.stays
		s.ended(w.t, &w.outcome)
		if !shown {
			s.missed(id)
		}
	case noteWrite:
		s.noted(w.t)
	case startWrite:
		s.started(w.t)
	case checkpointWrite:
		s.kept(w, revision)
	case tickWrite:
		s.ticked(w)
	case passWrite:
		s.passed(w)
	case tallyWrite:
		s.tallied(w)
	}
}

// overtaken continues after a write that was refused for its other condition: a seal of ours was
// the last all the while. A tick that is there already was submitted; an outcome whose submission
// is gone has been stored, and kept for as long as it was to be.
func (s *Scheduler) overtaken(w *write) {
	if w.kind == outcomeWrite {
		w.stays = false // it is gone
		s.stored(w, 0)
		return
	}
	delete(s.writes, w.number)
	if r := s.recurs[w.id]; r != nil && r.write == w {
		r.write, r.seen = nil, latest(r.seen, w.tick)
		s.continueTicks(r)
	}
}

// erase removes a record of the scheduler's own that says nothing any more.
func (s *Scheduler) erase(what Record, id string) {
	s.send(&write{kind: eraseWrite, what: what, id: id})
}

// tidy begins when all that there is has been read: what is left of tasks that have ended is
// removed.
func (s *Scheduler) tidy() {
	s.tidyCancels()
	s.tidyUniques()
	s.tidyTicks()
	s.tidyEdges()
	s.tidyGroups()
}
