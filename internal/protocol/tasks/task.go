package tasks

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// task is an open task in the state. Its payload stays in the stream, and what it needs only while
// somebody has it is in its run: one that waits fits into 300 bytes, see doc.go.
type task struct {
	text       string // its id, its keys and its tag
	revision   uint64
	uniqueAt   uint64 // revision of the record of its unique key, 0: it has none
	policy     *Policy
	class      *queueClass
	run        *current // when somebody has it, or something is being stored of it
	stored     Instant  // when it was submitted, by the stream's clock
	due        Instant  // likewise, since when it could run, or until when it is delayed: what its turn counts from
	since      Instant  // since when it waits now
	deadline   Instant  // likewise
	attempt    Attempt  // the largest that was handed out, adopted or noted
	checkpoint uint64   // revision of its record, 0: none
	failures   uint16
	crashes    uint16
	snoozes    uint16
	phase      taskPhase
	noted      bool  // it has a note, or may have
	saved      bool  // it has a checkpoint, or may have
	idEnd      uint8 // in text; the tag and the keys follow in this order
	tagSize    uint8
	uniqueSize uint8
	fairSize   uint8
	bundled    bool   // its submission is in a bundle
	stickyEnd  uint16 // the limit key is the rest
	place      int32  // in the queue that it is in, from 1
	expiry     int32  // in the queue of deadlines, from 1
	slot       int32  // in the table
	alike      int32  // the next task whose id has the same hash, by its slot, from 1
}

// ofDeadlines is the number of the queue of deadlines: a task is in that one and in one other at
// most.
const ofDeadlines = 1

// Place is where the task keeps its place in a queue.
func (t *task) Place(number uint8) *int32 {
	if number == ofDeadlines {
		return &t.expiry
	}
	return &t.place
}

// Order is what decides among tasks of one moment: the order of their submissions.
func (t *task) Order() uint64 {
	index := 0
	if t.bundled {
		_, index, _ = bundles.Split(t.id())
	}
	return t.revision*bundles.Most + uint64(index)
}

func (t *task) tries() int { return int(t.failures) + int(t.crashes) + int(t.snoozes) }

// current is what a task needs while a worker has it, and while what became of that is being
// stored.
type current struct {
	worker   *worker // that has it; when its end is being stored, that had it
	began    Instant
	serial   uint64
	slot     int32 // among what the worker holds
	hasSlot  bool
	alone    bool // it was given as what must run alone to a worker that heeds that
	answered bool // the worker has accepted it
	progress float32
	said     int64  // Ran of the last progress
	kept     int64  // Ran of the last checkpoint that was taken
	stored   int64  // Ran of the last that is stored
	saving   *write // of a checkpoint
	write    write  // of its note or its outcome
	before   State  // the state that its outcome ends
}

// open puts a submission into the state.
func (s *Scheduler) open(e *Submitted) *task {
	l := s.classOf(e.Policy, e.Revision)
	t := &task{revision: e.Revision, policy: e.Policy, class: l, deadline: never, stored: s.clock.Now}
	t.name(e.ID, e.Keys, e.Tag)
	if m, within := s.member(t); within {
		t.bundled = true
		s.bundles.Kept(m, e.Policy.Retention)
	}
	if t.fair() != "" && l.kind.turns == nil {
		l.kind.takeTurns(s)
	}
	if !e.Stored.IsZero() {
		t.stored = s.clock.Instant(e.Stored)
		s.clock.Observe(t.stored)
		if s.began == 0 {
			s.began = s.now
		}
	}
	l.open++
	l.kind.open++
	s.tasks.add(t)
	s.instances.Add(e.ID)
	s.edges.Set(e.ID, groups.Unknown)
	s.tellGroup(e.ID, groups.Open, e.Revision)
	s.holdUnique(t)
	s.emit(l.kind.queued)
	if e.Times.Deadline > 0 {
		t.deadline = t.stored.Add(e.Times.Deadline)
		s.expiring.Add(t, t.deadline)
	}
	t.due = t.stored.Add(e.Times.Delay)
	if !e.Times.At.IsZero() && !e.Stored.IsZero() {
		t.due = s.clock.Instant(e.Times.Due(e.Stored))
	}
	if e.After != nil {
		s.block(t, e.After)
	} else if t.due > t.stored && t.due > s.clock.Now { // else it is fresh, and the clock is a little behind
		s.postpone(t, t.due)
	} else {
		s.enqueue(t)
	}
	return t
}

// aborting is the outcome that is being stored of a task that was cancelled or has expired, "" for
// any other task.
func (t *task) aborting() Status {
	if t.phase != ending {
		return ""
	}
	if o := &t.run.write.outcome; o.Status == StatusCancelled || o.Status == StatusExpired {
		return o.Status
	}
	return ""
}

// close takes a task out of the state.
func (s *Scheduler) close(t *task) {
	if t.aborting() == StatusExpired {
		s.expired--
	}
	s.unqueue(t)
	s.unassign(t)
	s.move(t, nowhere)
	s.putAway(t)
	s.expiring.Remove(t)
	s.mark(t)
	if m, within := s.member(t); within {
		s.bundles.Ended(m)
	}
	delete(s.begun, t.id())
	delete(s.suspects, t.id())
	delete(s.undecoded, t.id())
	s.tasks.remove(t)
	s.freeTicks(t.id())
	s.leave(t)
	s.leaveClass(t.class)
}

// take gives a task a run.
func (s *Scheduler) take(t *task) *current {
	if t.run == nil {
		if n := len(s.spare); n > 0 {
			t.run, s.spare = s.spare[n-1], s.spare[:n-1]
		} else {
			t.run = &current{}
		}
	}
	return t.run
}

// putAway drops the run of a task that nobody has any more.
func (s *Scheduler) putAway(t *task) {
	r := t.run
	if r == nil {
		return
	}
	if r.write.number != 0 {
		delete(s.writes, r.write.number)
	}
	t.run = nil
	*r = current{}
	if len(s.spare) < maxSpare {
		s.spare = append(s.spare, r)
	}
}

// enqueue makes a task wait for a worker. Its turn is decided by when it became due and not by when
// it came here: so one that comes back is ahead of all that came later, and a later scheduler finds
// the same order.
func (s *Scheduler) enqueue(t *task) {
	t.since = s.now
	if len(s.undecoded) > 0 {
		s.awaitBuild(t)
	}
	s.stand(t)
}

// turn is what a task's place in its class is decided by: every step of priority is worth so much
// waiting. It does not change while the task waits, so that nothing has to be sorted again.
func (t *task) turn(s *Scheduler) Instant {
	return t.due.Add(-s.cfg.AgingStep * time.Duration(t.policy.Priority))
}

func (s *Scheduler) postpone(t *task, until Instant) {
	t.due = until
	if t.phase != delayed { // what is read of a note may come after the submission's own delay
		s.move(t, delayed)
	}
	s.delayed.Add(t, until)
}

// unqueue takes a task that waits out of its queue.
func (s *Scheduler) unqueue(t *task) {
	switch t.phase {
	case waiting, parked:
		n := t.subqueue()
		n.remove(t)
		s.tend(n)
	case delayed:
		s.delayed.Remove(t)
	}
}

// numbered gives a task its next attempt; false when there is no number left in this epoch.
//
// Invariant: no two attempts of one id within an epoch are the same, though a task may end and
// another one be submitted under its id. So what has ended leaves the largest number behind, in one
// of a few thousand marks: ids share them, which costs numbers and nothing else.
func (s *Scheduler) numbered(t *task) bool {
	if t.attempt.Epoch != s.epoch {
		t.attempt = Attempt{Epoch: s.epoch, N: s.marks[markOf(t.id())]}
	}
	if t.attempt.N == math.MaxUint32 {
		s.end(Exhausted{s.epoch})
		return false
	}
	t.attempt.N++
	return true
}

// mark keeps the number of a task's last attempt.
func (s *Scheduler) mark(t *task) {
	if t.attempt.Epoch == s.epoch {
		if m := markOf(t.id()); t.attempt.N > s.marks[m] {
			s.marks[m] = t.attempt.N
		}
	}
}

// markOf is FNV-1a, folded to twelve bits.
func markOf(id string) uint16 {
	h := uint32(2166136261)
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return uint16(h>>20^h) & 0xfff
}

// name gives a task its id, its keys and its tag.
func (t *task) name(id string, k *Keys, tag string) {
	if k == nil {
		k = &Keys{}
	}
	text := make([]byte, 0, 512)
	for _, part := range []string{id, tag, k.Unique, k.Fair, k.Sticky, k.Limit} {
		text = append(text, part...)
	}
	t.text = string(text)
	t.idEnd, t.tagSize = uint8(len(id)), uint8(len(tag))
	t.uniqueSize, t.fairSize = uint8(len(k.Unique)), uint8(len(k.Fair))
	t.stickyEnd = uint16(len(text) - len(k.Limit))
}

func (t *task) id() string { return t.text[:t.idEnd] }

func (t *task) tagEnd() int { return int(t.idEnd) + int(t.tagSize) }

func (t *task) tag() string { return t.text[t.idEnd:t.tagEnd()] }

func (t *task) uniqueEnd() int { return t.tagEnd() + int(t.uniqueSize) }

func (t *task) unique() string { return t.text[t.tagEnd():t.uniqueEnd()] }

func (t *task) fairEnd() int { return t.uniqueEnd() + int(t.fairSize) }

func (t *task) fair() string { return t.text[t.uniqueEnd():t.fairEnd()] }

func (t *task) sticky() string { return t.text[t.fairEnd():t.stickyEnd] }

func (t *task) limit() string { return t.text[t.stickyEnd:] }

// keys are its keys, nil for none.
func (t *task) keys() *Keys {
	if len(t.text) == t.tagEnd() {
		return nil
	}
	return &Keys{Unique: t.unique(), Sticky: t.sticky(), Limit: t.limit(), Fair: t.fair()}
}

// Instant is a point on the time scale of one process.
type Instant = record.Instant

const never = record.Never

// Attempt names one hand-out of a task. Epoch is the scheduler's, N counts on within it: so
// attempts of a task are unique and ordered by construction, whatever two schedulers know of each
// other.
type Attempt struct {
	Epoch uint64
	N     uint32
}

// Compare orders attempts of one task.
func (a Attempt) Compare(b Attempt) int {
	return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.N, b.N))
}

// IsZero reports whether a names no attempt.
func (a Attempt) IsZero() bool { return a == Attempt{} }

func (a Attempt) String() string { return fmt.Sprintf("%d.%d", a.Epoch, a.N) }

// Held is a task that a worker runs, or has run and not yet reported.
type Held struct {
	ID      string
	Attempt Attempt
	// Revision is that of the submission: a task that was submitted again under its id has nothing
	// to do with what ran before.
	Revision uint64
}
