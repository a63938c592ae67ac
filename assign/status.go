package assign

import (
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// State is how far a task is.
//
//	               ┌────────────────────────┐
//	               ▼                        │
//	delayed ──► pending ──► running ──► retrying
//	                           └─────────────────► succeeded, dead
//
// From each of these four it may become cancelled or expired.
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
	// StateSucceeded, StateDead, StateCancelled and StateExpired are terminal.
	StateSucceeded = State(tasks.StatusSucceeded)
	StateDead      = State(tasks.StatusDead)
	StateCancelled = State(tasks.StatusCancelled)
	StateExpired   = State(tasks.StatusExpired)
)

// Terminal reports whether a task in this state has ended.
func (s State) Terminal() bool {
	switch s {
	case StateSucceeded, StateDead, StateCancelled, StateExpired:
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

// TaskStatus is what is known about a task. Its JSON is the scheduler's answer, and the output of
// rolectl. While nobody leads, an open task is reported as pending or delayed, though it may run:
// only the scheduler knows.
type TaskStatus struct {
	ID    string `json:"id"`
	Kind  string `json:"kind,omitempty"`
	State State  `json:"state"`
	// Reason is why no worker has a pending task.
	Reason Reason `json:"reason,omitempty"`
	// Attempts counts the attempts that ran or run. One that was lost together with its scheduler
	// may be uncounted. Worker is the instance that has the task, or had it last.
	Attempts int    `json:"attempts,omitempty"`
	Worker   string `json:"worker,omitempty"`
	// Progress is the last fraction of 1 that the present attempt has reported, to four digits.
	Progress float64 `json:"progress,omitempty"`
	Priority int     `json:"priority,omitempty"`
	// Submitted is when the task was stored. Due is when a task that is delayed or retrying may
	// run, by the scheduler's clock. Both are zero for a task that has ended, and only then Ended
	// is set.
	Submitted time.Time `json:"submitted,omitzero"`
	Due       time.Time `json:"due,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	// Ran is how long the last attempt of a task that has ended took.
	Ran time.Duration `json:"ran_ns,omitempty"`
	// Error and Cause say why a task has ended other than by success. See TaskError.
	Error string `json:"error,omitempty"`
	Cause string `json:"cause,omitempty"`
	// TraceParent and Headers are those of the submission.
	TraceParent string            `json:"trace_parent,omitempty"`
	Keys        *TaskKeys         `json:"keys,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	// Err is the *TaskError of a task that has ended other than by success.
	Err error `json:"-"`
}

// TaskKeys are the keys that a task was submitted with.
type TaskKeys struct {
	// Unique is the digest of the kind and the key.
	Unique string `json:"unique,omitempty"`
	Sticky string `json:"sticky,omitempty"`
	Limit  string `json:"limit,omitempty"`
}

// statusFrom is a status for users.
func statusFrom(s *client.Status) TaskStatus {
	st := TaskStatus{
		ID: s.ID, Kind: s.Kind, State: State(s.State), Reason: Reason(s.Reason), Attempts: s.Attempts, Worker: s.Worker, Progress: s.Progress,
		Priority: s.Priority, Submitted: s.Submitted, Due: s.Due, Ended: s.Ended, Ran: s.Ran, Error: s.Error, Cause: s.Cause,
		TraceParent: s.TraceParent, Keys: (*TaskKeys)(s.Keys), Headers: s.Headers,
	}
	if st.State.Terminal() && st.State != StateSucceeded {
		st.Err = &TaskError{ID: s.ID, Status: st.State, Cause: s.Cause, Message: s.Error, Stack: s.Stack, Attempts: s.Attempts}
	}
	return st
}
