package queue

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Item is what waits in a queue.
type Item interface {
	comparable
	// Order tells which of two items of one moment goes first: the one with the smaller order.
	Order() uint64
	// Place is where the item keeps its place in the queue of a number: 0 while it is in none.
	Place(number uint8) *int32
}

// Queue is a heap of items by time, then by their order. Each item knows its place, so that
// removing one costs O(log n). A node has four branches: half the depth of two, and siblings share
// a line of the cache. The zero Queue is empty, and has the number 0.
type Queue[T Item] struct {
	entries []entry[T]
	number  uint8
}

type entry[T Item] struct {
	at   record.Instant
	item T
}

// Numbered returns an empty queue. An item can be in several queues at once, if their numbers
// differ.
func Numbered[T Item](number uint8) Queue[T] { return Queue[T]{number: number} }

func (a *entry[T]) before(b *entry[T]) bool {
	return a.at < b.at || a.at == b.at && a.item.Order() < b.item.Order()
}

// First is the first item of a queue that is not empty.
func (q *Queue[T]) First() T { return q.entries[0].item }

// Len is how many items are in the queue.
func (q *Queue[T]) Len() int { return len(q.entries) }

// Next is the time of the first one.
func (q *Queue[T]) Next() record.Instant {
	if len(q.entries) == 0 {
		return record.Never
	}
	return q.entries[0].at
}

// Add puts an item in, with the moment of its turn.
func (q *Queue[T]) Add(t T, at record.Instant) {
	q.entries = append(q.entries, entry[T]{at, t})
	q.up(len(q.entries) - 1)
}

// Remove takes an item out, if it is in.
func (q *Queue[T]) Remove(t T) {
	place := t.Place(q.number)
	i := int(*place) - 1
	if i < 0 {
		return
	}
	*place = 0
	n := len(q.entries) - 1
	last := q.entries[n]
	q.entries[n] = entry[T]{}
	q.entries = q.entries[:n]
	if i < n {
		q.entries[i] = last
		if q.up(i) == i {
			q.down(i)
		}
	}
	if n >= 1024 && n < cap(q.entries)/4 { // what a burst has needed is given back
		q.entries = append(make([]entry[T], 0, cap(q.entries)/2), q.entries...)
	}
}

// Put puts an item in, or gives one that is in another moment.
func (q *Queue[T]) Put(t T, at record.Instant) {
	if *t.Place(q.number) == 0 {
		q.Add(t, at)
	} else {
		q.Move(t, at)
	}
}

// Move gives an item that is in another moment.
func (q *Queue[T]) Move(t T, at record.Instant) {
	i := int(*t.Place(q.number)) - 1
	q.entries[i].at = at
	if q.up(i) == i {
		q.down(i)
	}
}

// Pop takes out the first one that is due. It returns the zero item when none is.
func (q *Queue[T]) Pop(now record.Instant) T {
	if q.Next() > now {
		var none T
		return none
	}
	t := q.entries[0].item
	q.Remove(t)
	return t
}

func (q *Queue[T]) up(i int) int {
	x := q.entries[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !x.before(&q.entries[parent]) {
			break
		}
		q.entries[i] = q.entries[parent]
		*q.entries[i].item.Place(q.number) = int32(i + 1)
		i = parent
	}
	q.entries[i] = x
	*x.item.Place(q.number) = int32(i + 1)
	return i
}

func (q *Queue[T]) down(i int) {
	x := q.entries[i]
	for {
		first := 4*i + 1
		if first >= len(q.entries) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(q.entries)); c++ {
			if q.entries[c].before(&q.entries[least]) {
				least = c
			}
		}
		if !q.entries[least].before(&x) {
			break
		}
		q.entries[i] = q.entries[least]
		*q.entries[i].item.Place(q.number) = int32(i + 1)
		i = least
	}
	q.entries[i] = x
	*x.item.Place(q.number) = int32(i + 1)
}
