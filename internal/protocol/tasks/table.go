package tasks

import (
	"hash/maphash"
	"iter"
)

// table is the open tasks: each keeps a place in the listing, and is found by its id. A hash of
// four bytes leads to the place: that takes half of what a map by the ids themselves would.
type table struct {
	slots []*task
	holes []int32          // in slots
	first map[uint32]int32 // by the hash of the id: the place of the first task that has it, from 1
	open  int
}

// seed makes the hashes of this process its own: nobody can choose ids that share one.
var seed = maphash.MakeSeed()

func hash(id string) uint32 { return uint32(maphash.String(seed, id)) }

func newTable() table { return table{first: map[uint32]int32{}} }

func (x *table) len() int { return x.open }

// get is the open task of an id, nil when there is none.
func (x *table) get(id string) *task { return x.find(hash(id), id) }

func (x *table) find(h uint32, id string) *task {
	for at := x.first[h]; at > 0; {
		t := x.slots[at-1]
		if t.id() == id {
			return t
		}
		at = t.alike
	}
	return nil
}

// all are the open tasks. They may be moved meanwhile, but none added or removed.
func (x *table) all() iter.Seq[*task] {
	return func(yield func(*task) bool) {
		for _, t := range x.slots {
			if t != nil && !yield(t) {
				return
			}
		}
	}
}

// add gives a task a place, which it keeps: so a listing that continues over many pages meets every
// task that is open all the while, once.
func (x *table) add(t *task) { x.put(hash(t.id()), t) }

func (x *table) put(h uint32, t *task) {
	t.slot = x.room()
	x.slots[t.slot] = t
	t.alike = x.first[h]
	x.first[h] = t.slot + 1
	x.open++
}

// room is a place that is free, at the end if there is no hole.
func (x *table) room() int32 {
	for n := len(x.holes); n > 0; n = len(x.holes) {
		at := x.holes[n-1]
		x.holes = x.holes[:n-1]
		if int(at) < len(x.slots) {
			return at
		}
	}
	x.slots = append(x.slots, nil)
	return int32(len(x.slots) - 1)
}

// remove takes a task out.
func (x *table) remove(t *task) { x.drop(hash(t.id()), t) }

func (x *table) drop(h uint32, t *task) {
	if at := x.first[h]; at != t.slot+1 {
		before := x.slots[at-1]
		for before.alike != t.slot+1 {
			before = x.slots[before.alike-1]
		}
		before.alike = t.alike
	} else if t.alike > 0 {
		x.first[h] = t.alike
	} else {
		delete(x.first, h)
	}
	x.open--
	x.slots[t.slot] = nil
	x.holes = append(x.holes, t.slot)
	x.shorten()
}

// shorten gives back what is empty at the end.
func (x *table) shorten() {
	n := len(x.slots)
	for n > 0 && x.slots[n-1] == nil {
		n--
	}
	x.slots = x.slots[:n]
	if n == 0 {
		x.holes = x.holes[:0]
	}
}
