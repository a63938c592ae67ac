package unique

import (
	"fmt"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/unique"
)

// State is the stream, those who use it, and what is under way.
type State struct {
	last    uint8 // revision
	faults  uint8 // that have happened
	keys    [maxKeys + 1]versions[keyRecord]
	places  [maxTasks + 1]versions[placeRecord]
	clients [maxClients]client
	plain   progress
	requeue requeuer
	copies  [maxCopies]streamWrite
	held    [maxTasks + 1]uint8 // revision of the key's record that a scheduler has read of an open task
	opened  [maxTasks + 1]bool  // it has been open
}

// versions are the records of a subject: a server that lags shows the one before.
type versions[T comparable] struct{ now, before T }

func (v *versions[T]) put(next T) { v.now, v.before = next, v.now }

func (v *versions[T]) at(back uint8) T { return [...]T{v.now, v.before}[back] }

type keyRecord struct{ revision, task, at uint8 }

// placeRecord is what is in the place of a task; key is that of its submission.
type placeRecord struct {
	revision uint8
	holds    holds
	key      uint8
}

type holds uint8

const (
	nothing holds = iota
	reservation
	submission
	outcome
)

func (h holds) String() string {
	return [...]string{"nothing", "a reservation", "a submission", "an outcome"}[h]
}

type client struct {
	s    unique.Submitter
	gone bool
	end  unique.Do // 0 as long as it is at work
}

func (c *client) works() bool { return !c.gone && c.end == 0 }

// progress is how far one is that has one thing to do.
type progress uint8

const (
	idle progress = iota
	working
	finished
)

type requeuer struct {
	progress
	m unique.Requeuer
}

type writeKind uint8

const (
	noWrite writeKind = iota
	reserves
	takes
	stores
	frees
	submitsPlain
	storesAgain
	rewrites
)

var writeNames = [...]string{
	"", "reserves the place of", "takes the key for", "submits", "frees the key", "submits without a key", "submits again",
	"writes again the outcome of",
}

// streamWrite is one on its condition.
type streamWrite struct {
	kind              writeKind
	task, key, at     uint8
	expect, expectKey uint8
}

// forget drops the records that only a server which lags would show.
func (s *State) forget() {
	for i := range s.keys {
		s.keys[i].before = keyRecord{}
	}
	for i := range s.places {
		s.places[i].before = placeRecord{}
	}
}

// drop forgets a copy that no stream will ever take: revisions only grow. One of a submission
// stays, for a search that wants to know whether it is refused.
func (s *State) drop() {
	for i, w := range s.copies {
		if w.expect > 0 && (w.kind == reserves || w.kind == rewrites) && s.places[w.task].now.revision != w.expect ||
			w.expectKey > 0 && (w.kind == takes || w.kind == frees) && s.keys[w.key].now.revision != w.expectKey {
			s.copies[i] = streamWrite{}
		}
	}
}

// apply stores a write if its conditions hold.
func (s *State) apply(w streamWrite) (won bool, err error) {
	at := &s.places[w.task]
	key := &s.keys[w.key]
	switch w.kind {
	case takes, frees:
		if won = key.now.revision == w.expectKey; won {
			s.last++
			key.put(keyRecord{s.last, w.task, w.at})
			if at.now.holds == submission && s.held[w.task] > 0 && at.now.revision > w.at {
				s.held[w.task] = s.last // too late: the scheduler frees this one
			}
		}
	case reserves:
		if won = at.now.revision == w.expect; won {
			if at.now.holds > reservation {
				return won, fmt.Errorf("task %d: a reservation over %v", w.task, at.now.holds)
			}
			s.last++
			at.put(placeRecord{revision: s.last, holds: reservation})
		}
	case rewrites:
		if won = at.now.revision == w.expect; won {
			if at.now.holds != outcome {
				return won, fmt.Errorf("task %d: an outcome over %v", w.task, at.now.holds)
			}
			s.last++
			at.put(placeRecord{s.last, outcome, at.now.key})
		}
	case stores, storesAgain, submitsPlain:
		if won = at.now.revision == w.expect; won {
			if at.now.holds == submission || at.now.holds == outcome && w.kind != storesAgain {
				return won, fmt.Errorf("task %d: a submission over %v", w.task, at.now.holds)
			}
			s.open(w)
		}
	}
	return won, s.sound()
}

// open stores a submission. The scheduler reads it behind the record of its key.
func (s *State) open(w streamWrite) {
	s.last++
	s.places[w.task].put(placeRecord{s.last, submission, w.key})
	s.opened[w.task], s.held[w.task] = true, 0
	if k := s.keys[w.key].now; w.key > 0 && k.task == w.task {
		s.held[w.task] = k.revision
	}
}

// sound says what is wrong with the stream.
func (s *State) sound() error {
	for t := 1; t <= maxTasks; t++ {
		p := s.places[t].now
		if p.holds != submission || p.key == 0 {
			continue
		}
		for other := 1; other < t; other++ {
			if o := s.places[other].now; o.holds == submission && o.key == p.key {
				return fmt.Errorf("two open tasks, %d and %d, have the key %d", other, t, p.key)
			}
		}
		if k := s.keys[p.key].now; int(k.task) != t {
			return fmt.Errorf("task %d is open, and the record of its key names %d", t, k.task)
		}
	}
	return nil
}

// shown is what a client reads in a place for a key.
func (p placeRecord) shown(key uint8) unique.Place {
	of := unique.Place{Revision: uint64(p.revision)}
	switch {
	case p.holds == submission && p.key == key && key > 0:
		of.Holds = unique.Open
	case p.holds == submission:
		of.Holds = unique.Other
	case p.holds == outcome:
		of.Holds = unique.Ended
	}
	return of
}
