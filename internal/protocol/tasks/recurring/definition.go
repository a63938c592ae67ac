package recurring

import "time"

// Definition is what a definition says about its place among those before it.
type Definition struct {
	Version  int       // a lower one never replaces a higher one
	Schedule string    // with its zone, as text: another text has other ticks
	Since    time.Time // from when its ticks count, zero: from when it was stored
}

// Start is from when the ticks of a definition count that was stored at a time.
func (d Definition) Start(stored time.Time) time.Time {
	if d.Since.IsZero() || d.Since.After(stored) {
		return stored
	}
	return d.Since
}

// Over is d in the place of an earlier definition, which was stored at a time. It is not to be
// stored if ok is false: then the earlier one has a higher version, and stays.
func (d Definition) Over(earlier Definition, stored time.Time) (next Definition, ok bool) {
	if d.Version < earlier.Version {
		return earlier, false
	}
	d.Since = time.Time{}
	if d.Schedule == earlier.Schedule {
		d.Since = earlier.Start(stored)
	}
	return d, true
}
