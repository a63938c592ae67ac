package gather

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// shared is a store with two owners: submitters, each of which submits again when its write is
// stored, and a scheduler that writes the outcome of each of these tasks a little later.
type shared struct {
	store
	now       record.Instant
	submitted owner
	ended     owner
	due       []happening // in order
	outcomes  int
}

type owner struct {
	*shared
	g       Gatherer
	waiting int
	timer   record.Instant
	stored  func(n int)
	alone   int
}

// happening is when something happens.
type happening struct {
	at record.Instant
	do func()
}

func (s *shared) at(t record.Instant, do func()) {
	i := len(s.due)
	for i > 0 && s.due[i-1].at > t {
		i--
	}
	s.due = append(s.due, happening{})
	copy(s.due[i+1:], s.due[i:])
	s.due[i] = happening{t, do}
}

func (o *owner) enter() {
	if t, alone := o.g.Enter(o.now, 1); alone {
		o.send(t)
		return
	}
	o.waiting++
	o.next()
}

func (o *owner) send(t Ticket) {
	o.alone++
	o.at(o.takes(o.now, 1, false), func() {
		o.g.Answered(o.now, t)
		o.stored(1)
		o.next()
	})
}

func (o *owner) next() {
	n, together := o.g.Next(o.now, o.waiting)
	o.waiting -= n
	switch {
	case n > 0 && together:
		o.g.Batch(o.now, n)
		o.at(o.takes(o.now, n, true), func() {
			o.g.BatchAnswered(o.now, Stored, o.waiting)
			o.stored(n)
			o.next()
		})
	case n > 0:
		for range n {
			o.send(o.g.Alone(o.now))
		}
	}
	if due := o.g.Due(o.now, o.waiting); due >= 0 && o.timer <= o.now {
		o.timer = o.now.Add(max(due, time.Microsecond))
		o.at(o.timer, o.next)
	}
}

// newShared has one process with so many submitters.
func newShared(st store, writers int) *shared {
	s := &shared{now: 1, store: st}
	s.submitted.shared = s
	s.ended = owner{shared: s, stored: func(n int) { s.outcomes += n }}
	s.submitters(&s.submitted, writers)
	return s
}

// submitters submit by an owner, each again when its task is stored.
func (s *shared) submitters(o *owner, n int) {
	o.stored = func(n int) {
		for i := range n {
			s.at(s.now.Add(time.Duration(i)*5*time.Microsecond), o.enter)
			s.at(s.now.Add(time.Millisecond+time.Duration(i)*20*time.Microsecond), s.ended.enter)
		}
	}
	for range n {
		o.enter()
	}
}

func (s *shared) run(until time.Duration) {
	for s.now < record.Instant(until) {
		m := s.due[0]
		s.due = s.due[1:]
		s.now = max(s.now, m.at)
		m.do()
	}
}

// TestOwnersThatShareAStore: few writes of each owner go alone before its first batch. The first
// batch of one waits behind what the other has in flight, and seems dear. It does not make the
// owner go alone.
func TestOwnersThatShareAStore(t *testing.T) {
	s := newShared(store{
		single: 300 * time.Microsecond, batch: 2500 * time.Microsecond, each: 12 * time.Microsecond,
		way: 50 * time.Microsecond,
	}, 256)
	const span = 2 * time.Second
	s.run(span)
	if s.outcomes < 30_000 || s.submitted.alone > 4*first || s.ended.alone > 4*first {
		t.Errorf("%d tasks in %v; %d submissions and %d outcomes went alone", s.outcomes, span, s.submitted.alone,
			s.ended.alone)
	}
}

// TestOwnersThatShareAFastStore: a store is slow for a while, and both owners turn to batches. Then
// it is faster one by one. The few writes by which an owner measures that wait behind a batch of
// the other. That does not make the store slow: both go alone again.
func TestOwnersThatShareAFastStore(t *testing.T) {
	s := newShared(store{
		single: 600 * time.Microsecond, batch: 15 * time.Millisecond, each: 10 * time.Microsecond,
		way: 50 * time.Microsecond,
	}, 256)
	s.run(2 * time.Second)
	if !s.submitted.g.Turned() || !s.ended.g.Turned() {
		t.Fatal("no batches: this proves nothing")
	}
	const single, span = 50 * time.Microsecond, 20 * time.Second
	s.single = single
	s.run(span)
	before := s.outcomes
	s.run(2 * span)
	if got, alone := s.outcomes-before, int(span/(2*single)); got < alone*95/100 {
		t.Errorf("%d tasks in %v, and %d if all went alone", got, span, alone)
	}
}

// TestProcessesThatShareAStore: each process is an owner, and the scheduler is one more. The times
// that one measures hold the batches of the others, so writes one by one seem slow, and so do
// batches. They stay with batches where the store syncs.
func TestProcessesThatShareAStore(t *testing.T) {
	for _, c := range []struct{ processes, writers, least int }{{2, 32, 6000}, {4, 32, 7000}, {8, 64, 11_000}} {
		s := &shared{now: 1, store: store{
			single: 330 * time.Microsecond, batch: 2500 * time.Microsecond, each: 10 * time.Microsecond,
			way: 50 * time.Microsecond,
		}}
		s.ended = owner{shared: s, stored: func(n int) { s.outcomes += n }}
		for range c.processes {
			s.submitters(&owner{shared: s}, c.writers)
		}
		span := thorough.Pick(10*time.Second, 30*time.Second)
		s.run(span)
		before := s.outcomes
		s.run(2 * span)
		if rate := (s.outcomes - before) / int(span/time.Second); rate < c.least {
			t.Errorf("%d processes, %d writers each: %d tasks a second", c.processes, c.writers, rate)
		}
	}
}
