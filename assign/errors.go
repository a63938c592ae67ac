package assign

import (
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Causes of the end of a handler's context: context.Cause is one of them, or the context's own.
var (
	// ErrSessionLost: the worker's session is lost, the task is given to somebody else; what the handler returns counts for
	// nothing.
	ErrSessionLost = election.ErrSessionLost
	// ErrTimeout: the attempt took longer than the kind's timeout.
	ErrTimeout = errors.New("assign: the attempt took longer than its timeout")
	// ErrStopped: the attempt leads to nothing any more, and what the handler returns counts for nothing. errors.Is tells why:
	// the cause is ErrTaskCancelled or ErrTaskExpired besides; if it is neither, another attempt is on the books, or the
	// scheduler does not know how the task has ended.
	ErrStopped = errors.New("assign: the attempt was stopped")
	// ErrDraining: the worker shuts down. An error that the handler returns then gives the task back, uncounted.
	ErrDraining = errors.New("assign: the worker is shutting down")
)

// Causes that say more than ErrStopped.
var (
	errCancelled = fmt.Errorf("%w: %w", ErrStopped, ErrTaskCancelled)
	errExpired   = fmt.Errorf("%w: %w", ErrStopped, ErrTaskExpired)
)

// stoppedBy is the cause of the end of an attempt whose task has ended so.
func stoppedBy(end tasks.Status) error {
	switch end {
	case tasks.StatusCancelled:
		return errCancelled
	case tasks.StatusExpired:
		return errExpired
	}
	return ErrStopped
}

// Errors of [Task.Progress], besides the causes above.
var (
	// ErrAttemptEnded: the handler has returned. It is the cause of the end of its context too.
	ErrAttemptEnded = errors.New("assign: the attempt has ended")
	// ErrStale: the attempt is not the one on the scheduler's books any more; what the handler returns counts for nothing.
	ErrStale = errors.New("assign: another attempt is on the books, or the task has ended")
	// ErrCheckpointTooLarge says that a checkpoint is larger than a record may be.
	ErrCheckpointTooLarge = errors.New("assign: checkpoint too large")
)

// Errors of submitting and waiting.
var (
	// ErrTaskDead says that a task has failed for good. See TaskError.
	ErrTaskDead = errors.New("assign: task failed for good")
	// ErrTaskCancelled says that a task was cancelled.
	ErrTaskCancelled = errors.New("assign: task cancelled")
	// ErrTaskExpired says that a task's deadline passed before it had ended.
	ErrTaskExpired = errors.New("assign: task expired")
	// ErrTaskNotFound says that there is no record of a task: it was never submitted, or its outcome was not kept so long.
	ErrTaskNotFound = errors.New("assign: task not found")
	// ErrTaskEnded says that a task cannot be cancelled: it has ended otherwise.
	ErrTaskEnded = errors.New("assign: task has ended")
	// ErrStreamNotFound says that the namespace's stream is missing: set StreamAutoCreate, or make it.
	ErrStreamNotFound = errors.New("assign: stream not found")
	// ErrObjectsNotFound says that the namespace's object store is missing, which keeps large outputs: make it, see CreateObjects.
	ErrObjectsNotFound = errors.New("assign: object store not found: make it with CreateObjects or \"rolectl tasks create\", or set StreamAutoCreate")
	// ErrTooLarge says that an input does not fit into a message.
	ErrTooLarge = errors.New("assign: input too large")
	// ErrInvalidID says that a task id cannot be part of a subject.
	ErrInvalidID = errors.New("assign: invalid task id: use letters, digits, - _ = / and dots between them, at most 200 bytes")
	// ErrClosed says that the client was closed, or the assigner's session.
	ErrClosed = errors.New("assign: closed")
)

// Errors of an assigner.
var (
	// ErrDuplicateKind says that a kind has a handler already.
	ErrDuplicateKind = errors.New("assign: the kind has a handler already")
	// ErrDuplicateNamespace says that the session has an assigner of the namespace already: both would answer to each frame, and
	// run every task twice. It holds for the session's life.
	ErrDuplicateNamespace = errors.New("assign: the session has an assigner of this namespace already: use that one for all kinds, or another session")
	// ErrHandlersStuck is the error of the event.Fault of a worker that shut down while handlers ran on, though their contexts
	// had ended; it names their tasks and kinds.
	ErrHandlersStuck = errors.New("assign: handlers still run after their contexts have ended: return when ctx is done")
	// ErrOtherRole says that Lead was called for the term of another role than Config.Role.
	ErrOtherRole = errors.New("assign: a term of another role")
	// ErrFenced ends Lead: a later scheduler has taken over.
	ErrFenced = errors.New("assign: a later scheduler has taken over")
	// ErrRecreated ends Lead: the stream is not the one that was sealed.
	ErrRecreated = errors.New("assign: the stream was deleted and made again")
)

// ConfigError is one fault of a configuration; all faults of one are joined.
type ConfigError struct {
	Field string
	// Fix says what holds and what would do.
	Fix string
}

func (e *ConfigError) Error() string { return "assign: " + e.Field + ": " + e.Fix }

// TaskError says how a task ended other than by success. It is ErrTaskDead, ErrTaskCancelled or ErrTaskExpired.
type TaskError struct {
	ID     string
	Status State
	// Cause is a short word: permanent, max_attempts, worker_lost, cancelled, deadline; unstorable when the server does not take
	// the outcome, see ErrUnstorable: Message says which.
	Cause string
	// Message is what the last attempt's handler returned; Stack is set when it panicked.
	Message string
	Stack   string
	// Attempts counts those that ran.
	Attempts int
}

func (e *TaskError) Error() string {
	text := fmt.Sprintf("%v: %s after %d attempts (%s)", e.Unwrap(), e.ID, e.Attempts, e.Cause)
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
	}
	return ErrTaskDead
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent makes an error that no further attempt would mend: the task is dead at once. nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type retryError struct {
	after time.Duration
	err   error
}

func (e *retryError) Error() string { return e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

// Bounds of the times that handlers ask for. A snooze is not counted, so nothing else ends a loop of them; an error is, up to
// MaxAttempts. The longest is far below what overflows when a clock's time is added to it.
const (
	minSnooze = 100 * time.Millisecond
	minRetry  = time.Millisecond
	maxWait   = 10 * 365 * 24 * time.Hour
)

// RetryAfter makes an error after which the next attempt waits for d instead of the kind's backoff: at least 1 ms, at most 10
// years. It counts as a failure. nil stays nil.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &retryError{min(max(d, minRetry), maxWait), err}
}

type snoozeError struct{ after time.Duration }

func (e *snoozeError) Error() string { return fmt.Sprintf("assign: snoozed for %v", e.after) }

// Snooze is what a handler returns that wants to be run again after d: at least 100 ms, at most 10 years. It does not count as
// a failure.
func Snooze(d time.Duration) error { return &snoozeError{min(max(d, minSnooze), maxWait)} }
