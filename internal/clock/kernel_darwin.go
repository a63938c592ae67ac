package clock

import "golang.org/x/sys/unix"

// asleepToo is the clock that goes on while the machine sleeps and that nobody adjusts (clock_gettime(3)). The runtime
// reads the same counter without the time asleep, so this one never says less.
const asleepToo = unix.CLOCK_MONOTONIC_RAW
