package main

import "sync/atomic"

// fate is what became of an instance, or of the worker.
type fate string

const (
	alive    fate = "alive"
	vanished fate = "vanished"
	killed   fate = "killed"
	stopped  fate = "stopped"
	gaveUp   fate = "gave up" // by itself: it cannot go on
)

// fated is something that is alive until it meets its one fate.
type fated struct{ met atomic.Pointer[fate] }

// meet reports whether that is the fate that it meets: it has met no other.
func (f *fated) meet(end fate) bool { return f.met.CompareAndSwap(nil, &end) }

func (f *fated) fate() fate {
	if end := f.met.Load(); end != nil {
		return *end
	}
	return alive
}

func (f *fated) is(end fate) bool { return f.fate() == end }
