package assign

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// Causes of the end of a handler's context. [context.Cause] returns one of them, or the context's
// own error.
var (
	// ErrSessionLost says that the worker's session was lost. Another worker gets the task, and the
	// handler's result is discarded.
	ErrSessionLost = taskerr.ErrSessionLost
	// ErrTimeout says that the attempt took longer than the kind's timeout.
	ErrTimeout = taskerr.ErrTimeout
	// ErrStopped says that the attempt no longer counts, and the handler's result is discarded. The
	// cause is also ErrTaskCancelled or ErrTaskExpired if the task ended that way. If it is
	// neither, another attempt has taken over, or the scheduler does not know how the task ended.
	ErrStopped = taskerr.ErrStopped
	// ErrDraining says that the worker is shutting down. An error that the handler returns then
	// gives the task back, uncounted.
	ErrDraining = taskerr.ErrDraining
)

// Errors of [Task.Progress], in addition to the causes above.
var (
	// ErrAttemptEnded says that the handler has returned. It is the cause of the end of its context
	// too.
	ErrAttemptEnded = taskerr.ErrAttemptEnded
	// ErrStale says that another attempt has taken over, or the task has ended. The handler's
	// result is discarded.
	ErrStale = taskerr.ErrStale
	// ErrCheckpointTooLarge says that a checkpoint is larger than 16 KiB.
	ErrCheckpointTooLarge = taskerr.ErrCheckpointTooLarge
)

// Errors of submitting and waiting.
var (
	// ErrInvalidID says that a task id cannot be part of a subject.
	ErrInvalidID = taskerr.ErrInvalidID
	// ErrInvalidKind says that the name or an option of a kind is not valid.
	ErrInvalidKind = taskerr.ErrInvalidKind
	// ErrInvalidOption says that an option of a submission, a recurrence or a list is not valid.
	ErrInvalidOption = taskerr.ErrInvalidOption
	// ErrOtherKind says that the task of this id has another kind than the one that was named. Use
	// another id, or the task's kind.
	ErrOtherKind = taskerr.ErrOtherKind
	// ErrTooLarge says that an input does not fit into a message.
	ErrTooLarge = taskerr.ErrTooLarge
	// ErrTaskDead says that a task has failed for good. See [TaskError].
	ErrTaskDead = taskerr.ErrTaskDead
	// ErrTaskCancelled says that a task was cancelled.
	ErrTaskCancelled = taskerr.ErrTaskCancelled
	// ErrTaskExpired says that a task's deadline passed before the task ended.
	ErrTaskExpired = taskerr.ErrTaskExpired
	// ErrTaskSkipped says that a task never ran, because a task that it waited for has not
	// succeeded, or does not exist. See [After].
	ErrTaskSkipped = taskerr.ErrTaskSkipped
	// ErrGroupKept says that a task of an earlier group of the same name is still kept. See
	// [SubmitGroup].
	ErrGroupKept = taskerr.ErrGroupKept
	// ErrTaskNotFound says that there is no record of a task. Either nobody submitted it, or its
	// outcome was kept no longer.
	ErrTaskNotFound = taskerr.ErrTaskNotFound
	// ErrOutputGone says that a task succeeded and its large output is no longer kept. See
	// [Config].LargeRetention.
	ErrOutputGone = taskerr.ErrOutputGone
	// ErrNoClient says that the Submitter is nil or empty. Pass what [NewClient] or [New] returned.
	ErrNoClient = taskerr.ErrNoClient
	// ErrClosed says that the client, or the assigner's session, was closed.
	ErrClosed = taskerr.ErrClosed
)

// Errors of the namespace's stream and object store.
var (
	// ErrStreamNotFound says that the namespace's stream is missing. Set StreamAutoCreate, or
	// create it.
	ErrStreamNotFound = taskerr.ErrStreamNotFound
	// ErrNoDomain says that a missing stream or object store was not created, because a JetStream
	// domain answers and no Domain is configured: each site of a system would make one of its own.
	// The error names both ways out.
	ErrNoDomain = taskerr.ErrNoDomain
	// ErrOldFormat says that the stream was made by an earlier version, which kept its tasks under
	// other subjects. The error names the commands that replace it. Finish its tasks with the
	// earlier version before.
	ErrOldFormat = taskerr.ErrOldFormat
	// ErrObjectsNotFound says that the namespace's object store, which keeps large outputs, is
	// missing. Create it with [CreateObjects].
	ErrObjectsNotFound = taskerr.ErrObjectsNotFound
	// ErrStreamFull says that the namespace's stream, or the account's storage, has no room.
	// Nothing was stored. Tasks end as soon as there is room again: the server removes an outcome
	// when its kind's Retention is over.
	ErrStreamFull = taskerr.ErrStreamFull
	// ErrUnstorable is the error of the event.Fault of a record that the server never accepts, most
	// often because the record is too large. A task whose outcome it is ends as dead, with the
	// cause unstorable. Other records are tried again now and then.
	ErrUnstorable = taskerr.ErrUnstorable
)

// Errors of looking and steering.
var (
	// ErrNoScheduler says that nobody leads the role, or that its leader does not answer. Ask
	// again.
	ErrNoScheduler = taskerr.ErrNoScheduler
	// ErrTaskEnded says that a task cannot be cancelled, because it has ended.
	ErrTaskEnded = taskerr.ErrTaskEnded
	// ErrCancelPending says that the request to cancel is stored and has no effect yet. It takes
	// effect when a scheduler leads.
	ErrCancelPending = taskerr.ErrCancelPending
	// ErrNotDead says that a task cannot be requeued. Only a dead task whose input was kept can be.
	ErrNotDead = taskerr.ErrNotDead
	// ErrTaskOpen says that a task cannot be deleted, because it has not ended. Cancel it first.
	ErrTaskOpen = taskerr.ErrTaskOpen
	// ErrTaskNeeded says that a task cannot be deleted, because an open task waits for its outcome,
	// see [After]. Wait until that task has ended, or cancel it. It takes a scheduler to let the
	// outcome go.
	ErrTaskNeeded = taskerr.ErrTaskNeeded
	// ErrKeyTaken says that a task cannot be requeued, because another open task has its unique
	// key. Wait for that task, or cancel it.
	ErrKeyTaken = taskerr.ErrKeyTaken
	// ErrLimitsDiffer says that another program has declared a kind differently under the same
	// version. The error names both. See [Declare].
	ErrLimitsDiffer = taskerr.ErrLimitsDiffer
	// ErrInvalidName says that a name cannot be part of a subject.
	ErrInvalidName = taskerr.ErrInvalidName
	// ErrInvalidSpec says that the schedule of a recurrence is not valid.
	ErrInvalidSpec = taskerr.ErrInvalidSpec
	// ErrRecurrenceNotFound says that no recurrence has that name.
	ErrRecurrenceNotFound = taskerr.ErrRecurrenceNotFound
	// ErrInvalidCursor says that no page returned the cursor with which a page was asked for.
	ErrInvalidCursor = taskerr.ErrInvalidCursor
)

// Errors of an assigner.
var (
	// ErrDuplicateKind says that the kind already has a handler.
	ErrDuplicateKind = taskerr.ErrDuplicateKind
	// ErrDuplicateNamespace says that the session already has an assigner of the namespace. Two of
	// them would both answer each frame, and run every task twice. It holds for the session's life.
	ErrDuplicateNamespace = errors.New(
		"assign: the session has an assigner of this namespace already: use that one for all kinds, or another session")
	// ErrHandlersStuck is the error of the event.Fault of a worker that shut down while handlers
	// still ran, though their contexts had ended. It names their tasks and kinds.
	ErrHandlersStuck = taskerr.ErrHandlersStuck
	// ErrSuspect is the error of the event.Fault of a task whose worker was lost. It is reported
	// before the task runs again, since it may take down the next worker too.
	ErrSuspect = taskerr.ErrSuspect
	// ErrWorkerPanicked is the error of the event.Fault of a worker that has panicked outside its
	// handlers, with the stack. Its session ends at once, and its tasks go to other workers. The
	// process takes tasks again after a pause: 1 s, doubled by each further panic up to 5 min.
	ErrWorkerPanicked = taskerr.ErrWorkerPanicked
	// ErrOtherRole says that Lead was called for the term of another role than Config.Role.
	ErrOtherRole = errors.New("assign: a term of another role")
	// ErrFenced ends Lead when a later scheduler has taken over, or has to: the stream has a seal, a
	// bundle, or a record beside one, of a later version of this package. If the bucket cannot have
	// given the epoch of that scheduler, Lead ends with election.ErrStoreRegressed instead: an earlier
	// state of the bucket was restored, and "rolectl bucket adopt" is due.
	ErrFenced = taskerr.ErrFenced
	// ErrOtherStream says that another stream has the name of the one that was opened, or of the one
	// that StreamID names. The connection leads to another NATS system or JetStream domain, or the
	// stream was deleted and recreated. A client keeps returning it: make another one. It ends
	// Lead, and the next term opens the stream that is there.
	ErrOtherStream = taskerr.ErrOtherStream
	// ErrInconsistent says that the scheduler's state was about to break a rule. That is a bug of
	// this package: please report it with the error's text. The term ends before any harm is done,
	// and the next term reads the stream again.
	ErrInconsistent = taskerr.ErrInconsistent
	// ErrUnreachable says that a worker lives, and that the scheduler's messages do not reach it. A
	// Fault of the scheduler says so, with the subjects, when that has lasted for 1.5 TTL, and again
	// at growing intervals. The worker is given nothing until it answers.
	ErrUnreachable = taskerr.ErrUnreachable
	// ErrAttemptsExhausted says that a task was handed out about four billion times in one
	// epoch. The term ends, and the next one counts from the start.
	ErrAttemptsExhausted = taskerr.ErrAttemptsExhausted
)

// Permanent makes an error that no further attempt would fix: the task is dead at once. nil stays
// nil.
func Permanent(err error) error { return taskerr.Permanent(err) }

// RetryAfter makes an error after which the next attempt waits for d instead of the kind's backoff.
// Minimum 1 ms, maximum 10 years. It counts as a failure. nil stays nil.
func RetryAfter(d time.Duration, err error) error { return taskerr.RetryAfter(d, err) }

// Snooze is what a handler returns to run again after d. Minimum 100 ms, maximum 10 years. It does
// not count as a failure.
func Snooze(d time.Duration) error { return taskerr.Snooze(d) }
