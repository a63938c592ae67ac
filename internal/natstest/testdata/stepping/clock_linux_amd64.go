package main

import (
	"fmt"
	"os"
	"runtime"
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
		end("the kernel has no vDSO with clocks")
	}
	before := time.Now()
	stepWallClock(time.Hour)
	after := time.Now()
	stepWallClock(-time.Hour)
	ahead := after.Round(0).Sub(before.Round(0)) - after.Sub(before) // of the wall clock, beyond the monotonic one
	if ahead.Round(time.Minute) != time.Hour {
		end(fmt.Sprintf("a step of an hour shows as one of %v", ahead))
	}
}

// end ends the process where its clock cannot be stepped.
func end(why string) {
	fmt.Fprintf(os.Stderr, "the wall clock of this server cannot be stepped with %s, since %s: "+
		"see internal/natstest/stepping.go\n", runtime.Version(), why)
	os.Exit(1)
}
