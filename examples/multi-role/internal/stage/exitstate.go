package stage

import "sync/atomic"

// exitState tells whether an instance or the worker runs, or how it has ended.
type exitState string

const (
	alive    exitState = "alive"
	vanished exitState = "vanished"
	killed   exitState = "killed"
	stopped  exitState = "stopped"
	gaveUp   exitState = "gave up" // ended by itself
)

// atomicExitState is alive at first. The first end counts.
type atomicExitState struct{ end atomic.Pointer[exitState] }

// set reports whether this end is the first.
func (a *atomicExitState) set(s exitState) bool { return a.end.CompareAndSwap(nil, &s) }

func (a *atomicExitState) get() exitState {
	if s := a.end.Load(); s != nil {
		return *s
	}
	return alive
}

func (a *atomicExitState) is(s exitState) bool { return a.get() == s }
