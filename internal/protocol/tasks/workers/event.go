package workers

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// Event is what happens to a worker.
type Event interface{ applyTo(w *Worker) }

type (
	// Received is a frame of assignments that is known to come from the scheduler whose epoch is in
	// the worker's view. Reply answers it under Ref. Blocked are tasks whose handlers ignore that a
	// former session of this process was lost: they take so many slots, and are not run again here
	// before they have returned.
	Received struct {
		Term, Low uint64
		List      []tasks.Assignment
		Ref       any
		Blocked   map[string]int
	}

	// StopOrder is a Stop of the same origin. A Halt follows if the attempt runs.
	StopOrder struct {
		Term    uint64
		ID      string
		Attempt tasks.Attempt
		Serial  uint64
		Status  tasks.Status
	}

	// Ended says that a handler has returned. Report follows, unless nobody wants it.
	Ended struct {
		ID      string
		Attempt tasks.Attempt
	}

	// Acked says that a result was settled.
	Acked struct {
		ID      string
		Attempt tasks.Attempt
	}

	// Drain refuses everything new from now on.
	Drain struct{}
)
