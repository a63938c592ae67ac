package clock

import "golang.org/x/sys/unix"

// asleepToo is the clock that continues while the machine sleeps and that nobody adjusts
// (clock_gettime(3)). The runtime reads the same counter without the time asleep, so this clock is
// never behind it.
const asleepToo = unix.CLOCK_MONOTONIC_RAW
