package assign

import (
	"fmt"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// TaskError says how a task ended other than by success. It is ErrTaskDead, ErrTaskCancelled,
// ErrTaskExpired or ErrTaskSkipped.
type TaskError struct {
	ID     string
	Status State
	// Cause is a short word: permanent, max_attempts, worker_lost, undecodable, cancelled, deadline,
	// upstream, unclosed or unstorable. Unclosed means that members of a group were not submitted
	// within a day. Upstream means that a task which it waited for has not succeeded, or
	// does not exist. Undecodable means that no worker could decode the input. Unstorable means that
	// the server does not accept the outcome: Message says which one, and [ErrUnstorable] says why.
	Cause string
	// Message is what the last attempt's handler returned. Stack is set when the handler panicked.
	Message string
	Stack   string
	// Attempts counts those that ran.
	Attempts int
}

func (e *TaskError) Error() string {
	attempts := "attempts"
	if e.Attempts == 1 {
		attempts = "attempt"
	}
	text := fmt.Sprintf("%v: %s after %d %s (%s)", e.Unwrap(), e.ID, e.Attempts, attempts, e.Cause)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap makes errors.Is true for the sentinel of the status.
func (e *TaskError) Unwrap() error {
	switch e.Status {
	case StateCancelled:
		return ErrTaskCancelled
	case StateExpired:
		return ErrTaskExpired
	case StateSkipped:
		return ErrTaskSkipped
	}
	return ErrTaskDead
}

// SealedError says that an input, an output or a checkpoint cannot be opened. It is ErrUnknownKey,
// ErrTampered or ErrNotSealed.
type SealedError = taskerr.SealedError

// Errors of values that a [Codec] has sealed.
var (
	// ErrUnknownKey says that a value is sealed with a key that this process does not have. A worker
	// without the key rejects the task, and workers of other keys are tried first.
	ErrUnknownKey = taskerr.ErrUnknownKey
	// ErrTampered says that a sealed value was changed, or belongs to another task or to another
	// namespace, or that its key has another secret here. A task with such an input is dead.
	ErrTampered = taskerr.ErrTampered
	// ErrNotSealed says that a value is not sealed although a codec is configured. See
	// [Config].AcceptPlain.
	ErrNotSealed = taskerr.ErrNotSealed
)

// taskError is an outcome, other than a success, as an error.
func taskError(id string, o *record.Outcome) *TaskError {
	message, stack := o.Why()
	return &TaskError{
		ID: id, Status: State(o.Status), Cause: o.Cause, Message: message, Stack: stack,
		Attempts: o.Attempts,
	}
}
