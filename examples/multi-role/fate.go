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

// atomicFate is alive until it meets another one, for good.
type atomicFate struct{ met atomic.Pointer[fate] }

// meet reports whether this is the fate that is met: there was none before.
func (a *atomicFate) meet(f fate) bool { return a.met.CompareAndSwap(nil, &f) }

func (a *atomicFate) now() fate {
	if f := a.met.Load(); f != nil {
		return *f
	}
	return alive
}

func (a *atomicFate) is(f fate) bool { return a.now() == f }
