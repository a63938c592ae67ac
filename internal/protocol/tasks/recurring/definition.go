package recurring

import "time"

// Definition is what a definition says about its place among those before it.
type Definition struct {
	Version  int       // a lower one never replaces a higher one
	Schedule string    // with its zone, as text: another text has other ticks
	Since    time.Time // from when its ticks count, zero: from when it was stored
	Phase    time.Time // what equal distances are counted from, zero: from when its ticks count
	Paused   bool      // it has no ticks
}

// Start is from when the ticks of a definition count that was stored at a time.
func (d Definition) Start(stored time.Time) time.Time {
	if d.Since.IsZero() || d.Since.After(stored) {
		return stored
	}
	return d.Since
}

// Anchor is what equal distances are counted from in a definition that was stored at a time.
func (d Definition) Anchor(stored time.Time) time.Time {
	if d.Phase.IsZero() || d.Phase.After(stored) {
		return d.Start(stored)
	}
	return d.Phase
}

// Pause is a definition, which was stored at a time, without ticks until it is resumed.
func (d Definition) Pause(stored time.Time) Definition {
	d.Since, d.Phase, d.Paused = d.Start(stored), d.Anchor(stored), true
	return d
}

// Resume is a definition, which was stored at a time, with ticks again. They count from when it is
// stored: those that came meanwhile were never its.
func (d Definition) Resume(stored time.Time) Definition {
	d.Since, d.Phase, d.Paused = time.Time{}, d.Anchor(stored), false
	return d
}

// Over is d in the place of an earlier definition, which was stored at a time. It is not to be
// stored if ok is false: then the earlier one has a higher version, and stays. One that is paused
// stays paused: a program that starts again does not undo what an operator has done.
func (d Definition) Over(earlier Definition, stored time.Time) (next Definition, ok bool) {
	if d.Version < earlier.Version {
		return earlier, false
	}
	d.Since, d.Phase, d.Paused = time.Time{}, time.Time{}, earlier.Paused
	if d.Schedule == earlier.Schedule {
		d.Since, d.Phase = earlier.Start(stored), earlier.Anchor(stored)
	}
	return d, true
}
