//go:build race

package natstest

// processors is how many processors a bubble has: one under the race detector. All goroutines that
// receive from expired timers of a bubble run those timers in one context of the detector, which
// two threads at once destroy (SIGSEGV inside the runtime; see
// https://github.com/golang/go/issues/78156). The detector compares clocks, not moments, so it sees
// the same races.
func processors() int { return 1 }
