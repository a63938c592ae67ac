package assign

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// State is how far a task is.
//
// A task is delayed until it is due, then pending until a worker has it, then running. After an
// attempt it is retrying until the next one is due, and pending again; or it has succeeded, or is
// dead. A task that has not ended may become cancelled or expired at any time. A task that waits
// for others, see [After], is pending with the reason after, and may become skipped.
type State string

const (
	// StatePending: the task is stored and waits for a worker.
	StatePending State = "pending"
	// StateDelayed: the task is stored, and not due yet.
	StateDelayed State = "delayed"
	// StateRunning: a worker has the task.
	StateRunning State = "running"
	// StateRetrying: an attempt has ended, and the next one is not due yet.
	StateRetrying State = "retrying"
	// StateSucceeded, StateDead, StateCancelled, StateExpired and StateSkipped are terminal.
	StateSucceeded = State(tasks.StatusSucceeded)
	StateDead      = State(tasks.StatusDead)
	StateCancelled = State(tasks.StatusCancelled)
	StateExpired   = State(tasks.StatusExpired)
	StateSkipped   = State(tasks.StatusSkipped)
)

// Terminal reports whether a task in this state has ended.
func (s State) Terminal() bool {
	switch s {
	case StateSucceeded, StateDead, StateCancelled, StateExpired, StateSkipped:
		return true
	}
	return false
}

// known reports whether the state is one of the constants.
func (s State) known() bool {
	switch s {
	case StatePending, StateDelayed, StateRunning, StateRetrying:
		return true
	}
	return s.Terminal()
}
