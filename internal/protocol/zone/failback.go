package zone

import (
	"math"
	"time"
)

// MaxWait bounds how long a better tier must have been there, however often it has failed. A longer
// FailBackAfter is taken as it is.
const MaxWait = time.Hour

// History is what the record of a role tells about fail-backs. Each claim carries it on, so a
// process that leads later knows it too.
type History struct {
	// Failed is how many fail-backs in a row did not last.
	Failed uint8
	// Back says that the present term began with a fail-back, or is about to.
	Back bool
}

// Wait is how long a candidate of a better tier must have been there: it doubles after each
// fail-back that did not last.
func (h History) Wait(after time.Duration) time.Duration {
	limit := max(after, MaxWait)
	for range h.Failed {
		if after >= limit {
			break
		}
		after *= 2
	}
	return min(after, limit)
}

// Ended is the history after a term that has lasted for at least that long.
func (h History) Ended(lasted, after time.Duration) History {
	switch {
	case !h.Back:
		return h
	case after > 0 && lasted >= h.Wait(after):
		return History{}
	case h.Failed < math.MaxUint8:
		h.Failed++
	}
	h.Back = false
	return h
}

// Given is the history after a term that ends in a fail-back.
func (h History) Given() History { return History{h.Failed, true} }

// Claimed is the history of a claim over a vacancy. It begins a fail-back only for the candidate
// that was meant.
func (h History) Claimed(meant bool) History {
	if meant {
		return h
	}
	return h.Ended(0, 0)
}
