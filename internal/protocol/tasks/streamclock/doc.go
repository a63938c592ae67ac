// Package streamclock says what time it is by the clock of the stream.
//
// The times of tasks and ticks are on that clock: records are stored by it, and the clocks of two
// machines may differ by any amount. The package has no clock of its own, and no I/O.
package streamclock
