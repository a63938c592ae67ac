package main

import (
	"sync/atomic"
	"time"
)

// stepped is how far the wall clock of this process is ahead of the machine's, in seconds.
var stepped int64

// kernels is the function of the kernel that reads clocks.
var kernels uintptr

// install has the runtime read its clocks by readClock. It reports whether the kernel has a
// function that readClock can ask.
func install() bool

// readClock is the kernel's function, called as C does: (clock in DI, result in SI). The wall clock
// is as far ahead as stepped says.
func readClock()

// stepWallClock moves the wall clock of this process, as a step of the machine's does: the
// monotonic clock, all timers and what has passed between two readings of Now stay what they are.
func stepWallClock(d time.Duration) { atomic.AddInt64(&stepped, int64(d/time.Second)) }

func init() {
	if !install() {
		panic("the kernel has no vDSO with clocks")
	}
}
