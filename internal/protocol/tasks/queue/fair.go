package queue

import (
	"cmp"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Turns are keys that take turns: each stands in one line, goes with as many items as its share
// when it is the first, and is the last then. A key that comes is the last, too. So while the keys
// that have items which can go have shares of n together, the first item of each goes within n
// items. A key whose items cannot go keeps its place, and what is left of its turn: it has that
// when they can, and is the last then. A key without items is forgotten, and gains nothing when it
// comes again.
//
// The items of a key are in one Fair or in several, which share the turns.
type Turns[T Item] struct {
	// Shares are those of the keys, 1 for one that is not there. New ones count at once, and nobody
	// loses its place. A key that has gone as often as its new share says, or more, goes once more.
	Shares map[string]int

	keys  map[string]*turn
	lines map[lineID[T]]*line[T] // a key may have items in very many
	last  record.Instant         // the last place in the line that was given
}

// turn is one key.
type turn struct {
	place record.Instant // in the line
	items int32
	gone  int32 // of them, in the present turn
}

// line is the items of one key in one Fair.
type line[T Item] struct {
	of     *turn
	items  Queue[T]
	places [2]int32
}

type lineID[T Item] struct {
	key string
	in  *Fair[T]
}

// NewTurns returns the turns of no key.
func NewTurns[T Item]() *Turns[T] {
	return &Turns[T]{keys: map[string]*turn{}, lines: map[lineID[T]]*line[T]{}}
}

// Len is how many keys have items.
func (s *Turns[T]) Len() int { return len(s.keys) }

// Count is how many items a key has.
type Count struct {
	Key   string
	Items int
}

// Most are the keys with the most items, n at most, and those of one number by name.
func (s *Turns[T]) Most(n int) (top []Count) {
	for key, t := range s.keys {
		c := Count{key, int(t.items)}
		at, _ := slices.BinarySearchFunc(top, c, func(a, b Count) int {
			return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Key, b.Key))
		})
		if at < n {
			top = slices.Insert(top, at, c)
			top = top[:min(len(top), n)]
		}
	}
	return top
}

// Went notes that an item of a key goes, if it has one, which ends its turn if that was its share.
func (s *Turns[T]) Went(key string) {
	t := s.keys[key]
	if t == nil {
		return
	}
	if t.gone++; int(t.gone) >= s.Shares[key] {
		s.last++
		t.place, t.gone = s.last, 0
	}
}

// Keep has a key keep its place while move takes an item of it from one Fair to another.
func (s *Turns[T]) Keep(key string, move func()) {
	t := s.keys[key]
	t.items++
	move()
	t.items--
}

// Fair is a queue whose items belong to keys that take turns. Items of one key go in the order of a
// Queue.
type Fair[T Item] struct {
	turns  *Turns[T]
	lines  Queue[*line[T]] // by their turns, of which some may have come to an end since
	ages   Queue[*line[T]] // by their first items
	length int
}

const ofAges = 1 // the number of that queue

// NewFair returns an empty queue, of the number 0.
func NewFair[T Item](turns *Turns[T]) *Fair[T] {
	return &Fair[T]{turns: turns, ages: Numbered[*line[T]](ofAges)}
}

// Len is how many items are in the queue.
func (f *Fair[T]) Len() int { return f.length }

// Add puts an item of a key in, with the moment of its turn among those of the key.
func (f *Fair[T]) Add(key string, t T, at record.Instant) {
	l := f.turns.lines[lineID[T]{key, f}]
	if l == nil {
		of := f.turns.keys[key]
		if of == nil {
			f.turns.last++
			of = &turn{place: f.turns.last}
			f.turns.keys[key] = of
		}
		l = &line[T]{of: of}
		f.turns.lines[lineID[T]{key, f}] = l
	}
	l.items.Add(t, at)
	l.of.items++
	f.length++
	if l.items.Len() == 1 {
		f.lines.Add(l, l.of.place)
	}
	if l.items.First() == t {
		f.ages.Put(l, at)
	}
}

// Remove takes an item of a key out, if it is in.
func (f *Fair[T]) Remove(key string, t T) {
	if *t.Place(0) == 0 {
		return
	}
	l := f.turns.lines[lineID[T]{key, f}]
	l.of.items--
	f.length--
	if l.items.Len() > 1 {
		l.items.Remove(t)
		f.ages.Put(l, l.items.Next())
		return
	}
	f.ages.Remove(l)
	f.lines.Remove(l)
	l.items.Remove(t)
	delete(f.turns.lines, lineID[T]{key, f})
	if l.of.items == 0 {
		delete(f.turns.keys, key)
	}
}

// First is the item whose turn it is, of a queue that is not empty, and the place of its key in the
// line of all.
func (f *Fair[T]) First() (t T, place record.Instant) {
	for {
		l := f.lines.First()
		if place = l.of.place; place == f.lines.Next() {
			return l.items.First(), place
		}
		f.lines.Move(l, place) // places only grow, so the first one that has its own is the least
	}
}

// Oldest is the item that a Queue would have first, and the moment of its turn there.
func (f *Fair[T]) Oldest() (t T, at record.Instant) {
	return f.ages.First().items.First(), f.ages.Next()
}

// Order is that of its first item; no two keys have the same turn.
func (l *line[T]) Order() uint64 { return l.items.First().Order() }

// Place is where the line keeps its place in a queue.
func (l *line[T]) Place(number uint8) *int32 { return &l.places[number] }
