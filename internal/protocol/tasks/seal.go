package tasks

import (
	"cmp"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
)

// seal is what makes the server refuse a deposed scheduler's writes: one record that every write of the scheduler names by
// its revision. While it is not known to be ours and the last, nothing is written.
//
// It is renewed after every unknown outcome and every reconnect: late copies of our own writes name the old revision and
// are refused too, so what the stream has shown by then is all that there is.
type seal struct {
	revision uint64 // the last one that the stream has shown, 0: none
	epoch    uint64

	valid uint64  // the revision under which writes go out, 0: none, and one is wanted
	write uint64  // the attempt in flight, 0: none
	retry Instant // not before this is another attempt made
	fails int
}

func (l *seal) due() Instant {
	if l.valid != 0 || l.write != 0 || l.retry == 0 {
		return never
	}
	return l.retry
}

type writeKind uint8

const (
	sealWrite writeKind = iota
	outcomeWrite
	noteWrite
	eraseWrite
)

var writeNames = [...]string{"seal", "outcome", "note", "erase"}

// write is one that was asked for and whose outcome is not known.
type write struct {
	kind    writeKind
	number  uint64 // of the last attempt
	guard   uint64 // under which it went out, 0: it waits for a seal
	t       *task
	id      string // of the note to erase
	outcome Outcome
	retry   Retry
	refs    []any // who waits for it
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
		s.fenced(l.epoch)
		return
	}
	s.last++
	l.write = s.last
	s.writes[s.last] = &write{kind: sealWrite, number: s.last}
	s.emit(WriteSeal{Write: s.last, Expect: l.revision, Epoch: s.epoch})
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
	l.revision, l.epoch, l.retry = e.Revision, e.Epoch, 0
	if l.write != 0 { // it was this one, or it has come too late
		delete(s.writes, l.write)
		l.write = 0
	}
	switch {
	case e.Epoch > s.epoch:
		s.fenced(e.Epoch)
	case !s.caughtUp:
	case e.Ours && e.Epoch == s.epoch:
		s.sealed(e.Revision)
	default:
		s.renew()
	}
}

// sealed begins to write under a seal that the stream has shown. All that was written under earlier ones has been shown by
// now, or never will be: what is still wanted is written again.
func (s *Scheduler) sealed(revision uint64) {
	s.seal.valid, s.seal.fails = revision, 0
	again := make([]*write, 0, len(s.writes))
	for _, w := range s.writes {
		again = append(again, w)
	}
	slices.SortFunc(again, func(a, b *write) int { return cmp.Compare(a.number, b.number) })
	for _, w := range again {
		s.send(w)
	}
}

// sealWritten is the outcome of the seal. The stream confirms one that was won, and then has also shown all that came
// before; it explains one that was refused, and resolves one that is unknown. If it does not, another is written.
func (s *Scheduler) sealWritten(o protocol.Outcome) {
	l := &s.seal
	l.write = 0
	if o == protocol.Won {
		l.retry = s.now.Add(s.cfg.WriteTime)
		return
	}
	l.fails++
	l.retry = s.now.Add(min(50*time.Millisecond<<min(l.fails-1, 10), retryCap))
}

// send asks for a write under the present seal, or keeps it until there is one.
func (s *Scheduler) send(w *write) {
	if w.number != 0 {
		delete(s.writes, w.number)
	}
	if w.kind == eraseWrite && s.tasks[w.id] != nil {
		return // there is a new task of that name, and the note may be its
	}
	s.last++
	w.number, w.guard = s.last, s.seal.valid
	s.writes[w.number] = w
	if w.guard == 0 {
		return
	}
	switch w.kind {
	case outcomeWrite:
		s.emit(WriteOutcome{w.number, w.guard, w.t.id, w.t.revision, w.t.policy.Kind, w.t.policy.Retention, w.outcome})
	case noteWrite:
		s.emit(WriteNote{w.number, w.guard, w.t.id, w.retry})
	case eraseWrite:
		s.emit(Erase{Write: w.number, Guard: w.guard, What: NoteRecord, ID: w.id})
	}
}

func (e Written) apply(s *Scheduler) {
	w := s.writes[e.Write]
	if w == nil {
		return
	}
	if w.kind == sealWrite {
		delete(s.writes, e.Write)
		s.sealWritten(e.Outcome)
		return
	}
	if e.Outcome == protocol.Won {
		s.stored(w)
		return
	}
	if w.guard != s.seal.valid {
		return // a new seal is under way, and decides
	}
	if e.Outcome == protocol.Refused {
		s.emit(Refused{Op: writeNames[w.kind]})
	}
	s.renew()
}

// stored goes on after a write, known to be stored by its acknowledgement or by the stream.
func (s *Scheduler) stored(w *write) {
	delete(s.writes, w.number)
	for _, ref := range w.refs {
		s.emit(Settle{Ref: ref})
	}
	switch w.kind {
	case outcomeWrite:
		s.emit(Completed{w.t.policy.Kind, w.outcome})
		noted := w.t.noted
		s.close(w.t)
		if noted {
			s.erase(w.t.id)
		}
	case noteWrite:
		t := w.t
		t.write, t.worker, t.noted, t.floor = nil, nil, true, w.retry.Attempt
		if w.retry.Wait > 0 {
			s.postpone(t, s.now.Add(w.retry.Wait))
		} else {
			s.enqueue(t, true)
		}
	}
}

func (s *Scheduler) erase(id string) { s.send(&write{kind: eraseWrite, id: id}) }
