package clock

import "golang.org/x/sys/unix"

// asleepToo is the kernel's clock that continues while the machine is suspended: CLOCK_MONOTONIC
// plus the time asleep (clock_gettime(2)).
const asleepToo = unix.CLOCK_BOOTTIME
