package clock

import "time"

// Clock is read by every process that holds or observes a lease. It is safe for concurrent use.
type Clock interface {
	// Now reads both scales.
	Now() Now
	// Holder reads only the holder's scale. It does not allocate, because it is read each time that
	// a caller asks whether a lease still holds.
	Holder() Instant
}

// virtualAbove is how far the runtime's clock must be from the kernel's wall clock to count as
// virtual. A bubble's clock begins in the year 2000; the two readings of a real clock lie
// microseconds apart.
const virtualAbove = time.Hour

// started anchors the plain monotonic scale, so that the readings of all clocks of the process can
// be compared.
var started = time.Now()

// System returns the clocks of this machine, or the virtual clock of the testing/synctest bubble it
// is called in.
func System() Clock {
	if isVirtual() {
		return bubble{}
	}
	if _, ok := sinceBoot(); ok {
		return machine{}
	}
	return monotonic{}
}

// isVirtual reports whether time.Now is the clock of a bubble. It is never true where the kernel's
// wall clock can be read only through the runtime.
func isVirtual() bool {
	wall, ok := kernelWall()
	return ok && time.Since(wall).Abs() > virtualAbove
}

// awake is the observer's scale: it begins at 1, because 0 means "never".
func awake() Instant { return 1 + Instant(time.Since(started)) }

// machine counts the time asleep for holders.
type machine struct{}

func (machine) Now() Now {
	// The holder's scale is read last, so that the time between the two readings counts against the
	// holder.
	o := awake()
	return Now{Holder: machine{}.Holder(), Observer: o}
}

func (machine) Holder() Instant {
	i, _ := sinceBoot() // System has seen it work, and it cannot stop working
	return i
}

// monotonic is the clock of a machine that cannot tell how long it has slept.
type monotonic struct{}

func (monotonic) Now() Now {
	i := awake()
	return Now{Holder: i, Observer: i}
}

func (monotonic) Holder() Instant { return awake() }

// bubble reads the runtime's wall clock, which in a bubble is virtual and never steps.
type bubble struct{}

func (bubble) Now() Now {
	i := Instant(time.Now().UnixNano())
	return Now{Holder: i, Observer: i}
}

func (bubble) Holder() Instant { return Instant(time.Now().UnixNano()) }
