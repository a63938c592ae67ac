package tasksim

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// taskStream is the stream of a namespace: one record per subject, and the conditions of a write.
type taskStream struct {
	w     *taskWorld
	log   []stored
	last  map[string]uint64 // sequence of the last record by subject
	first map[string]uint64 // that of the first that was ever stored
	steps []step            // of its clock
	stays map[uint64]bool   // outcomes that stay until they are released, by sequence
}

// stored is one record; its sequence is its place, from 1.
type stored struct {
	subject string
	value   any
	at      time.Duration
	clock   time.Duration // when that was by the stream's clock
	of      uint64        // of an outcome: the submission that it has taken the place of
	over    uint64        // the sequence that it has taken the place of, if that was its condition
}

// Values of records, beside tasks.Outcome.
type (
	noteOf struct {
		tasks.Retry
		failed []tasks.Outcome // attempts that were counted
	}
	submission struct {
		policy  *tasks.Policy
		times   tasks.Times
		keys    *tasks.Keys
		renewed bool // in the place of an outcome, or of one that has expired
		later   bool // of a later version: old processes cannot read it
		after   *groups.After
		fresh   bool // only workers of the later build can decode its input
		byHand  bool // of a tick that somebody submits
	}
	erased struct{}
	sealOf struct {
		epoch   uint64
		lead    *lead
		clean   bool
		suspect uint64
	}
	checkpoint struct {
		attempt tasks.Attempt
		number  int
	}
	steering struct{} // a cancel, a pause or a drain stands
	reserved struct{} // in the place of a task
	uniqueOf struct { // who has a unique key
		task string
		at   uint64
	}
	recurOf struct { // a definition
		of    *tasks.Recurrence
		later bool
		place recurring.Definition
	}
	tickOf  struct{ tick, last time.Time } // the last tick, and the last that was submitted
	lasting struct{ tasks.Outcome }        // an outcome that stays until it is released
	put     struct {                       // one record of a write, under its condition:
		subject string
		value   any
		on      string // the last sequence of this subject
		expect  uint64 // is this one; "" for no condition
	}
)

const sealSubject = "seal"

func (s *taskStream) init(w *taskWorld) {
	s.w, s.last, s.first, s.stays = w, map[string]uint64{}, map[string]uint64{}, map[uint64]bool{}
}

// write stores records if all of their conditions hold, all or none. It returns the sequence of the
// first one.
func (s *taskStream) write(all ...put) (record.Outcome, uint64) {
	for _, p := range all {
		if p.on != "" && s.lastOf(p.on) != p.expect {
			s.w.Refused++
			return record.Refused, 0
		}
	}
	first := uint64(len(s.log) + 1)
	for _, p := range all {
		before := s.record(p.subject)
		if v, stays := p.value.(lasting); stays {
			p.value, s.stays[uint64(len(s.log)+1)] = v.Outcome, true
		}
		over := uint64(0)
		if p.on == p.subject {
			over = p.expect
		}
		of := uint64(0)
		if _, open := before.(submission); open {
			of = s.at(p.subject)
		}
		s.log = append(s.log, stored{p.subject, p.value, s.w.now, s.clock(), of, over})
		s.last[p.subject] = uint64(len(s.log))
		if s.first[p.subject] == 0 {
			s.first[p.subject] = s.last[p.subject]
		}
		s.w.wrote(p.subject, p.value, before, s.last[p.subject])
		s.w.sees(p.subject)
	}
	s.w.wholly(all)
	return record.Won, first
}

// takes reports whether the stream takes a record at all, whatever stands there: some results and
// checkpoints are larger than it allows. How a task has ended is always stored, if nothing is said
// about the result.
func (s *taskStream) takes(p put) bool {
	_, id, _ := strings.Cut(p.subject, ".")
	value := p.value
	if v, stays := value.(lasting); stays {
		value = v.Outcome
	}
	switch v := value.(type) {
	case tasks.Outcome:
		return v.Cause == tasks.CauseUnstorable || v.Status != tasks.StatusSucceeded && v.Status != tasks.StatusDead ||
			!s.w.tooLarge(id, v.Attempt, 0)
	case checkpoint:
		return !s.w.tooLarge(id, v.attempt, v.number)
	}
	return true
}

// tooLarge reports whether a checkpoint of an attempt, or its result (0), is never stored: it is
// always the same of one.
func (w *taskWorld) tooLarge(id string, a tasks.Attempt, number int) bool {
	h := fnv.New64a()
	fmt.Fprint(h, w.Seed, id, a, number)
	return float64(h.Sum64()%1000) < 1000*w.Unstorable
}

// expire removes a record if it is still the last one of its subject.
func (s *taskStream) expire(subject string, sequence uint64) bool {
	if s.last[subject] != sequence {
		return false
	}
	delete(s.last, subject)
	return true
}

// record is what stands at a subject, nil for nothing.
func (s *taskStream) record(subject string) any {
	if n := s.last[subject]; n > 0 {
		return s.log[n-1].value
	}
	if m, open := s.member(subject); open {
		return m
	}
	return nil
}

// vacant reports whether a task has neither a submission nor an outcome.
func (s *taskStream) vacant(id string) bool {
	r := s.record("q." + id)
	_, only := r.(reserved)
	return r == nil || only
}

// open reports whether a task has a submission and no outcome.
func (s *taskStream) open(id string) bool {
	_, open := s.record("q." + id).(submission)
	return open
}

// leftOver is a record of a task that has ended, of which nothing should be left; "" for none.
func (s *taskStream) leftOver() string {
	if subject := s.forgotten(); subject != "" {
		return subject
	}
	for subject, n := range s.last {
		family, id, _ := strings.Cut(subject, ".")
		value := s.log[n-1].value
		switch value.(type) {
		case erased, claimed:
			continue
		}
		switch family {
		case "t", "c", "x":
			if !s.open(id) && !s.w.haunted(id) {
				return subject
			}
		case "b":
			if b := value.(bundleOf); !s.w.awaits(&b, n) {
				return subject
			}
		case "e":
			if _, stands := s.record("b." + id).(bundleOf); !stands {
				return subject
			}
		case "u":
			// The client of another one has left before its task, or has taken the key too late.
			if u := value.(uniqueOf); !s.open(u.task) && s.w.lives[u.task] > n {
				return subject
			}
		case "k":
			if _, defined := s.record("r." + id).(recurOf); !defined {
				return subject
			}
		}
	}
	return ""
}
