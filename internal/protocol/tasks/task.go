package tasks

import (
	"container/heap"
	"slices"
)

type state uint8

const (
	waiting state = iota // in the queue of its kind
	delayed              // not due yet
	pushed               // a worker was asked to run it, and has not answered
	running              // a worker has it
	writing              // its outcome or its note is being stored
)

// task is an open task on the books. Its payload stays in the stream.
type task struct {
	id       string
	revision uint64
	policy   *Policy
	kind     *kind
	worker   *worker // that has it, when pushed or running
	write    *write  // that is under way, when writing
	due      Instant // since when it waits, or until when it is delayed
	began    Instant // since when it is with the worker
	deadline Instant
	attempt  Attempt // the largest that was handed out, adopted or noted
	floor    Attempt // the one in its note: adopted is only what is larger
	serial   uint64
	size     int32
	failures uint16
	crashes  uint16
	snoozes  uint16
	state    state
	answered bool  // the worker has accepted it
	noted    bool  // it has a note
	place    int32 // in the heap of delayed tasks, from 1
	expiry   int32 // in the heap of deadlines, from 1
}

func (t *task) tries() int { return int(t.failures) + int(t.crashes) + int(t.snoozes) }

// kind is the queue of the tasks of one kind, first come first served.
type kind struct {
	name    string
	queue   []*task // a task that is no longer waiting is passed over
	head    int
	workers []*worker // that take it
	open    int       // tasks of it on the books
}

func (k *kind) push(t *task, front bool) {
	if front && k.head > 0 {
		k.head--
		k.queue[k.head] = t
		return
	}
	if front {
		k.queue = slices.Insert(k.queue, 0, t)
		return
	}
	if k.head > 64 && k.head > len(k.queue)/2 {
		n := copy(k.queue, k.queue[k.head:])
		clear(k.queue[n:])
		k.queue, k.head = k.queue[:n], 0
	}
	k.queue = append(k.queue, t)
}

// peek returns the first task that waits, or nil.
func (k *kind) peek() *task {
	for k.head < len(k.queue) {
		if t := k.queue[k.head]; t != nil && t.state == waiting {
			return t
		}
		k.pop()
	}
	return nil
}

func (k *kind) pop() {
	k.queue[k.head] = nil
	if k.head++; k.head == len(k.queue) {
		k.queue, k.head = k.queue[:0], 0
	}
}

// open puts a submission on the books.
func (s *Scheduler) open(e Submitted) *task {
	k := s.kinds[e.Policy.Kind]
	if k == nil {
		k = &kind{name: e.Policy.Kind}
		s.kinds[k.name] = k
		s.turn = append(s.turn, k)
		s.dirty = true
	}
	k.open++
	t := &task{
		id: e.ID, revision: e.Revision, policy: e.Policy, kind: k, size: int32(min(e.Size, 1<<30)), deadline: never,
	}
	s.tasks[t.id] = t
	s.emit(Queued{Kind: k.name})
	if e.Policy.Deadline > 0 {
		t.deadline = s.now.Add(e.Policy.Deadline - e.Age)
		s.expiring.add(t, t.deadline, func(t *task) *int32 { return &t.expiry })
	}
	if wait := e.Policy.Delay - e.Age; wait > 0 {
		s.postpone(t, s.now.Add(wait))
	} else {
		s.enqueue(t, false)
	}
	return t
}

// close takes a task off the books.
func (s *Scheduler) close(t *task) {
	s.unassign(t)
	s.unqueue(t)
	s.expiring.remove(t, &t.expiry)
	delete(s.tasks, t.id)
	if t.kind.open--; t.kind.open == 0 && len(s.kinds) > maxKinds {
		delete(s.kinds, t.kind.name)
		s.turn = slices.DeleteFunc(s.turn, func(k *kind) bool { return k == t.kind })
	}
	t.state = writing // a queue that still holds it passes it over
}

// enqueue makes a task wait for a worker, in front when it has waited before.
func (s *Scheduler) enqueue(t *task, front bool) {
	t.state, t.due = waiting, s.now
	s.queued++
	t.kind.push(t, front)
}

func (s *Scheduler) postpone(t *task, until Instant) {
	t.state, t.due = delayed, until
	s.queued++
	s.delayed.add(t, until, func(t *task) *int32 { return &t.place })
}

// unqueue takes a task that waits or is delayed out of the way.
func (s *Scheduler) unqueue(t *task) {
	switch t.state {
	case waiting:
		s.queued--
	case delayed:
		s.queued--
		s.delayed.remove(t, &t.place)
	}
}

// alarms is a heap of tasks by time. Each task keeps its place, so that removing costs O(log n).
type alarms struct {
	rows  []row
	place func(*task) *int32
}

type row struct {
	at Instant
	t  *task
}

func (a *alarms) add(t *task, at Instant, place func(*task) *int32) {
	a.place = place
	heap.Push(a, row{at, t})
}

func (a *alarms) remove(_ *task, place *int32) {
	if *place > 0 {
		heap.Remove(a, int(*place-1))
	}
}

// pop returns the first task that is due, nil when there is none.
func (a *alarms) pop(now Instant) *task {
	if a.next() > now {
		return nil
	}
	return heap.Pop(a).(row).t
}

func (a *alarms) next() Instant {
	if len(a.rows) == 0 {
		return never
	}
	return a.rows[0].at
}

func (a *alarms) Len() int           { return len(a.rows) }
func (a *alarms) Less(i, j int) bool { return a.rows[i].at < a.rows[j].at }

func (a *alarms) Swap(i, j int) {
	a.rows[i], a.rows[j] = a.rows[j], a.rows[i]
	*a.place(a.rows[i].t), *a.place(a.rows[j].t) = int32(i+1), int32(j+1)
}

func (a *alarms) Push(x any) {
	r := x.(row)
	a.rows = append(a.rows, r)
	*a.place(r.t) = int32(len(a.rows))
}

func (a *alarms) Pop() any {
	n := len(a.rows) - 1
	r := a.rows[n]
	a.rows[n] = row{}
	a.rows = a.rows[:n]
	*a.place(r.t) = 0
	return r
}
