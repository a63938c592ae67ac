package tasks

import (
	"cmp"
	"fmt"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Instant is a point on the time scale of one process.
type Instant = record.Instant

const never = record.Never

// Attempt names one hand-out of a task. Epoch is the scheduler's, N counts on within it: so
// attempts of a task are unique and ordered by construction, whatever two schedulers know of each
// other.
type Attempt struct {
	Epoch uint64
	N     uint32
}

// Compare orders attempts of one task.
func (a Attempt) Compare(b Attempt) int {
	return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.N, b.N))
}

// IsZero reports whether a names no attempt.
func (a Attempt) IsZero() bool { return a == Attempt{} }

func (a Attempt) String() string { return fmt.Sprintf("%d.%d", a.Epoch, a.N) }

// Held is a task that a worker runs, or has run and not yet reported.
type Held struct {
	ID      string
	Attempt Attempt
	// Revision is that of the submission: a task that was submitted again under its id has nothing
	// to do with what ran before.
	Revision uint64
}
