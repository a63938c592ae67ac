package assign

import "errors"

// Errors of those who submit, look and steer.
var (
	// ErrInvalidKind says that a kind cannot be made so: its name, or one of its options.
	ErrInvalidKind = errors.New("assign: invalid kind")
	// ErrInvalidOption says that a task cannot be submitted so.
	ErrInvalidOption = errors.New("assign: invalid submit option")
	// ErrNoScheduler says that nobody leads the role just now, or that its leader does not answer: ask again.
	ErrNoScheduler = errors.New("assign: no scheduler answers: start a process that leads the role, or ask again")
	// ErrCancelPending says that a request to cancel is stored and has not taken effect yet: it does when a scheduler leads.
	ErrCancelPending = errors.New("assign: the request to cancel is stored, and takes effect when a scheduler leads")
	// ErrNotDead says that a task cannot be requeued: only one that is dead can, and only if its input was kept.
	ErrNotDead = errors.New("assign: the task is not dead: only dead tasks can be requeued")
	// ErrKeyTaken says that a task cannot be requeued: another one that is open has its unique key. Wait for that one, or
	// cancel it.
	ErrKeyTaken = errors.New("assign: another open task has the unique key")
	// ErrOutputGone says that a task has succeeded and its output, a large one, is no longer kept: see Config.LargeRetention.
	ErrOutputGone = errors.New("assign: the output is no longer kept: read it sooner, or raise LargeRetention")
	// ErrInvalidSpec says that a recurrence has no such schedule.
	ErrInvalidSpec = errors.New("assign: invalid schedule")
	// ErrInvalidName says that a name cannot be part of a subject.
	ErrInvalidName = errors.New("assign: invalid name: use letters, digits, - _ = / and dots between them, at most 200 bytes")
	// ErrRecurrenceNotFound says that there is no recurrence of that name.
	ErrRecurrenceNotFound = errors.New("assign: recurrence not found")
	// ErrInvalidCursor says that a page was asked for with a cursor that no page has given.
	ErrInvalidCursor = errors.New("assign: invalid cursor: use the Next of the page before")
)
