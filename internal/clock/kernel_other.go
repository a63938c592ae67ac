//go:build !linux && !darwin

package clock

import "time"

// sinceBoot has no clock to read here: the holder's scale is the observer's.
func sinceBoot() (Instant, bool) { return 0, false }

// kernelWall can read the wall clock only through the runtime here. This loses nothing, because
// both scales are the runtime's clock anyway, in a bubble and outside.
func kernelWall() (time.Time, bool) { return time.Time{}, false }
