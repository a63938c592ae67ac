//go:build linux || darwin

package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot reads the clock that counts the time asleep.
func sinceBoot() (Instant, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(asleepToo, &ts); err != nil {
		return 0, false
	}
	return Instant(ts.Nano()), true
}

// kernelWall reads the wall clock without the runtime, whose clock may be virtual.
func kernelWall() (time.Time, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &ts); err != nil {
		return time.Time{}, false
	}
	return time.Unix(0, ts.Nano()), true
}
