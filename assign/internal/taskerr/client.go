package taskerr

import "errors"

// Errors of submitting, looking and steering.
var (
	ErrClosed   = errors.New("assign: closed")
	ErrNoClient = errors.New(
		"assign: the client is nil or empty: give the value that NewClient or New has returned")
	ErrNoScheduler = errors.New("assign: no scheduler answers: start a process that leads the role, or ask again")
	ErrInvalidID   = errors.New(
		"assign: invalid task id: use letters, digits, - _ = / and dots between them, at most 200 bytes")
	ErrInvalidName = errors.New(
		"assign: invalid name: use letters, digits, - _ = / and dots between them, at most 200 bytes")
	ErrInvalidKind        = errors.New("assign: invalid kind")
	ErrInvalidOption      = errors.New("assign: invalid option")
	ErrInvalidSpec        = errors.New("assign: invalid schedule")
	ErrInvalidCursor      = errors.New("assign: invalid cursor: use the Next of the page before")
	ErrOtherKind          = errors.New("assign: the task is of another kind")
	ErrTooLarge           = errors.New("assign: input too large")
	ErrCancelPending      = errors.New("assign: the request to cancel is stored, and takes effect when a scheduler leads")
	ErrNotDead            = errors.New("assign: the task is not dead: only dead tasks can be requeued")
	ErrRecurrenceNotFound = errors.New("assign: recurrence not found")
	ErrTaskOpen           = errors.New("assign: the task is open: only a task that has ended can be deleted")
	ErrTaskNeeded         = errors.New(
		"assign: an open task waits for the outcome: wait until that task has ended, or cancel it")
	ErrKeyTaken = errors.New("assign: another open task has the unique key")
)
