package unique

import (
	"reflect"
	"unsafe"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/unique"
)

// renumber gives the revisions of a state the smallest numbers that are in the same order. Only the
// order counts: states that differ in nothing else are one state.
func renumber(s *State) {
	var used [256]bool
	everyRevision(s, func(r *uint8) { used[*r] = true }, func(r *uint64) { used[*r] = true })
	var next uint8
	var to [256]uint8
	for r := 1; r < len(used); r++ {
		if used[r] {
			next++
			to[r] = next
		}
	}
	everyRevision(s, func(r *uint8) { *r = to[*r] }, func(r *uint64) { *r = uint64(to[*r]) })
	s.last = next
}

// everyRevision visits all that a state knows, in the stream and in the clients.
func everyRevision(s *State, small func(*uint8), large func(*uint64)) {
	for i := range s.keys {
		for _, k := range []*keyRecord{&s.keys[i].now, &s.keys[i].before} {
			small(&k.revision)
			small(&k.at)
		}
	}
	for i := range s.places {
		for _, p := range []*placeRecord{&s.places[i].now, &s.places[i].before} {
			small(&p.revision)
		}
		small(&s.held[i])
	}
	for i := range s.copies {
		w := &s.copies[i]
		small(&w.at)
		small(&w.expect)
		small(&w.expectKey)
	}
	for i := range s.clients {
		for _, offset := range inSubmitter {
			large((*uint64)(unsafe.Add(unsafe.Pointer(&s.clients[i].s), offset)))
		}
	}
	for _, offset := range inRequeuer {
		large((*uint64)(unsafe.Add(unsafe.Pointer(&s.requeue.m), offset)))
	}
}

// All numbers of 64 bits in a machine are revisions.
var (
	inSubmitter = numbersIn(reflect.TypeFor[unique.Submitter](), 0)
	inRequeuer  = numbersIn(reflect.TypeFor[unique.Requeuer](), 0)
)

// numbersIn are the offsets of the numbers in a struct.
func numbersIn(t reflect.Type, at uintptr) (all []uintptr) {
	for i := range t.NumField() {
		switch f := t.Field(i); f.Type.Kind() {
		case reflect.Uint64:
			all = append(all, at+f.Offset)
		case reflect.Struct:
			all = append(all, numbersIn(f.Type, at+f.Offset)...)
		}
	}
	return all
}
