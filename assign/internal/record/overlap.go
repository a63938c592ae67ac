package record

import "github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"

// Words of a stored Recurrence for a tick that is due while a task of it is open.
const (
	OverlapAllow  = "" // as in a definition that says nothing
	OverlapSkip   = "skip"
	OverlapQueue  = "queue"
	OverlapCancel = "cancel"
)

var overlaps = map[string]recurring.Overlap{
	OverlapAllow: recurring.Allow, OverlapSkip: recurring.Skip, OverlapQueue: recurring.Queue,
	OverlapCancel: recurring.CancelRunning,
}

// withOverlap is the version of a definition whose tasks may not overlap, so that a scheduler which
// does not know of that leaves it alone.
const withOverlap = 2

// SetOverlap says what becomes of a tick that is due while a task of the recurrence is open.
func (r *Recurrence) SetOverlap(word string) {
	if r.Overlap, r.Version = word, 1; word != OverlapAllow {
		r.Version = withOverlap
	}
}

// known reports whether a definition is of a version that this program reads.
func (r *Recurrence) known() bool {
	_, known := overlaps[r.Overlap]
	if r.Overlap == OverlapAllow {
		return r.Version == 1
	}
	return known && r.Version == withOverlap
}

// overlapFault says what is wrong with the overlap of a definition, "" when nothing is.
func (r *Recurrence) overlapFault() string {
	switch overlap, known := overlaps[r.Overlap]; {
	case !known:
		return "use OverlapAllow, OverlapSkip, OverlapQueue or OverlapCancelRunning"
	case overlap.One() && r.CatchUp == CatchUpAll:
		return "of several ticks only the last is submitted: use CatchUpLatest, or OverlapQueue"
	}
	return ""
}
