package recurring

// Overlap is what becomes of a tick that is due while a task of the recurrence is open.
type Overlap uint8

const (
	Allow         Overlap = iota // it is submitted beside that one
	Skip                         // it is left out, for good
	Queue                        // it waits until none is open, and counts as one that nobody fired in time
	CancelRunning                // those that are open are cancelled, and it is submitted once they have ended
)

// One reports whether of several ticks that are due at once only the last counts: each would be
// skipped for the one before, or would cancel that.
func (o Overlap) One() bool { return o == Skip || o == CancelRunning }
