package view

import (
	"math"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Never is the due time of what waits for an event only.
const Never = record.Instant(math.MaxInt64)

// alarm is the part of a lease or a role that the schedule keeps: when to look at it again, on the
// observer's scale.
type alarm struct {
	At     record.Instant // when it is due now
	queued record.Instant // when the schedule will look; may be earlier than at, never later
}

// Schedule orders alarms by time. Moving an alarm to a later time costs nothing: it is found not
// due when it comes up and goes back. So a heartbeat of somebody else, which moves one alarm, costs
// O(1).
type Schedule[T interface{ clock() *alarm }] struct{ heap []scheduled[T] }

type scheduled[T any] struct {
	at   record.Instant
	what T
}

// Set makes x due at t; an x that is due earlier already comes up then and is put back.
func (s *Schedule[T]) Set(x T, t record.Instant) {
	a := x.clock()
	a.At = t
	if a.queued <= t {
		return
	}
	a.queued = t
	s.push(scheduled[T]{t, x})
}

// Next is when the schedule wants to look again.
func (s *Schedule[T]) Next() record.Instant {
	if len(s.heap) == 0 {
		return Never
	}
	return s.heap[0].at
}

// Pop takes out one x that is due at now.
func (s *Schedule[T]) Pop(now record.Instant) (x T, ok bool) {
	for len(s.heap) > 0 && s.heap[0].at <= now {
		top := s.take()
		a := top.what.clock()
		if a.queued != top.at {
			continue // superseded by an earlier entry
		}
		a.queued = Never
		if a.At > now {
			s.Set(top.what, a.At)
			continue
		}
		a.At = Never
		return top.what, true
	}
	return x, false
}

func (s *Schedule[T]) push(e scheduled[T]) {
	s.heap = append(s.heap, e)
	for i := len(s.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if s.heap[parent].at <= s.heap[i].at {
			return
		}
		s.heap[parent], s.heap[i] = s.heap[i], s.heap[parent]
		i = parent
	}
}

func (s *Schedule[T]) take() scheduled[T] {
	top, last := s.heap[0], len(s.heap)-1
	s.heap[0] = s.heap[last]
	s.heap[last] = scheduled[T]{}
	s.heap = s.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if s.heap[child].at < s.heap[least].at {
				least = child
			}
		}
		if least == i {
			return top
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
}
