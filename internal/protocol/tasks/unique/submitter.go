package unique

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Submitter submits one task with a unique key. It is plain data, and may be copied.
type Submitter struct {
	task string
	own  bool // nobody else submits a task of this id
	next Action

	eager bool // nothing was read so far

	finder  Finder
	finding bool
	place   uint64 // revision of what holds the place of the task: a reservation, or nothing
	mine    uint64 // revision of a reservation of ours that no submission of ours may count on, 0: none
	seen    bool   // the place is as place says, as far as we know
	key     uint64 // the revision at which the key may be taken
}

// NewSubmitter returns the Submitter of a task. Own says that nobody else submits a task of this
// id. Eager says that the key is probably free: then an own task is reserved, and the key taken,
// before anything is read.
func NewSubmitter(task string, own, eager bool) Submitter {
	s := Submitter{task: task, own: own, seen: own, eager: own && eager}
	switch {
	case s.eager:
		s.reserve()
	case own:
		s.find()
	default:
		s.look()
	}
	return s
}

// Next is what is to be done.
func (s *Submitter) Next() Action {
	if s.finding {
		return s.finder.next
	}
	return s.next
}

func (s *Submitter) do(a Action) { s.finding, s.finder, s.next = false, Finder{}, a }

func (s *Submitter) look() { s.do(Action{Do: ReadPlace, Task: s.task}) }

func (s *Submitter) find() { s.finding, s.finder, s.next = true, NewFinder(), Action{} }

func (s *Submitter) reserve() { s.do(Action{Do: Reserve, Task: s.task, Expect: s.place}) }

// take is the second write, after the first.
func (s *Submitter) take() {
	if s.mine == 0 {
		s.reserve()
		return
	}
	s.do(Action{Do: TakeKey, Task: s.task, Expect: s.key, At: s.mine})
}

// again begins once more after a moment. Doubted says that a write of the task's place may have
// been stored, or be stored yet.
func (s *Submitter) again(doubted bool) {
	if s.key = 0; doubted {
		s.place, s.mine, s.seen = 0, 0, false
	}
	s.do(Action{Do: Pause})
}

// Key is the record of the key as it was read. If it names this very task, the submission of an
// earlier try, or of another client, may be under way: it is shut out by another reservation.
func (s *Submitter) Key(k Key) {
	s.finder.Key(k)
	if k.Task != s.task {
		s.found()
		return
	}
	s.key, s.mine = k.Revision, 0
	if s.seen {
		s.reserve()
		return
	}
	s.look()
}

// found continues after the key turns out to be free, or taken.
func (s *Submitter) found() {
	switch a := s.finder.next; a.Do {
	case Free:
		s.key = a.Expect
		s.take()
	case Taken, Pause:
		s.do(a)
	}
}

// Place is what was read in a place.
func (s *Submitter) Place(p Place) {
	switch {
	case s.finding:
		s.finder.Place(p)
		s.found()
	case p.Holds == Nothing:
		if p.Revision != s.mine {
			s.mine = 0
		}
		s.place, s.seen = p.Revision, true
		s.find()
	case s.own:
		s.do(Action{Do: Stored, Task: s.task})
	default:
		s.do(Action{Do: Taken, Task: s.task})
	}
}

// Wrote is the outcome of a write, and the revision of its record if it was won.
func (s *Submitter) Wrote(o record.Outcome, revision uint64) {
	if s.finding {
		s.finder.Wrote(o)
		s.found()
		return
	}
	switch s.next.Do {
	case Reserve:
		if o != record.Won {
			s.again(true)
			return
		}
		s.place, s.mine, s.seen = revision, revision, true
		s.take()
	case TakeKey:
		switch {
		case o == record.Won:
			s.do(Action{Do: Store, Task: s.task, Expect: s.mine})
		case s.eager: // somebody has, or had, the key
			s.eager = false
			s.find()
		default: // the reservation stays good for the next try, unless the place turns out to have moved
			s.again(false)
		}
	case Store:
		if o == record.Won {
			s.do(Action{Do: Stored, Task: s.task})
			return
		}
		s.again(true)
	}
}

// Paused says that a moment has passed.
func (s *Submitter) Paused() {
	if s.seen {
		s.find()
		return
	}
	s.look()
}
