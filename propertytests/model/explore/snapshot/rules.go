package snapshot

import "reflect"

// Class is a kind of name: a value that matters only by being the same as another one, or by its
// order among its like.
type Class uint8

const (
	Revision Class = iota // ordered, one order for everybody
	ID                    // only the same or not
	Member                // a process; the processes of one configuration can change places
	Write                 // ordered, by owner
	Beat                  // ordered, by owner
	Version               // ordered, by owner
)

// ordered reports whether names of a class are told apart by their order, and not by their first
// mention.
func (c Class) ordered() bool { return c != ID && c != Member }

// owned reports whether each process has names of a class of its own.
func (c Class) owned() bool { return c >= Write }

// Name is one value that two states may differ in and yet be the same state.
type Name struct {
	Class Class
	Owner uint8 // the process whose name it is, of an owned class
	Value uint64
}

// Rules say how values of some types are copied and looked at. A value that they do not mention is
// copied and counts unchanged.
type Rules struct {
	// Frozen are types that are never changed once they are pointed at: a copy shares them.
	Frozen []reflect.Type
	// Omitted are fields, as Type.field, that do not count, each with the reason.
	Omitted map[string]string
	// Apart are fields that tell one part from another, but not one state from another, each with the
	// reason: counters of which the next name is made, so that it is another one than all those that
	// are still about.
	Apart map[string]string
	// Clipped are counters that are compared with nothing above a limit: beyond that they are all the
	// same.
	Clipped map[string]int
	// Fields are those whose numbers are names of a class, as are those of a list and the keys of a
	// map, and Types the types.
	Fields map[string]Class
	Types  map[reflect.Type]Class
	// Instant is the type of points in time: they count relative to now, and not beyond Horizon before
	// it.
	Instant reflect.Type
	Horizon int64
	// Number and Text find names among the other numbers and texts.
	Number func(uint64) (Name, bool)
	Text   func(string) (Name, bool)
	// Steady are the classes whose names are the same in all states, so that they have an order.
	Steady []Class
	// Hooks look at values of a type in their own way, and at the fields by the given function.
	Hooks map[reflect.Type]Hook
}

// Hook looks at the value that x points at; rest looks at its fields one by one, as if there were
// no hook.
type Hook func(w *Walk, x any, rest func())
