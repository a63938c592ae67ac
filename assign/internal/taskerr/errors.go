package taskerr

import (
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/election"
)

// Causes of the end of a handler's context, and errors of Task.Progress.
var (
	ErrSessionLost        = election.ErrSessionLost
	ErrTimeout            = errors.New("assign: the attempt took longer than its timeout")
	ErrStopped            = errors.New("assign: the attempt was stopped")
	ErrDraining           = errors.New("assign: the worker is shutting down")
	ErrAttemptEnded       = errors.New("assign: the attempt has ended")
	ErrStale              = errors.New("assign: another attempt is current, or the task has ended")
	ErrCheckpointTooLarge = errors.New("assign: checkpoint too large")
)

// Causes that say more than ErrStopped.
var (
	ErrStoppedByCancel   = fmt.Errorf("%w: %w", ErrStopped, ErrTaskCancelled)
	ErrStoppedByDeadline = fmt.Errorf("%w: %w", ErrStopped, ErrTaskExpired)
)

// Errors of a task and of waiting for it.
var (
	ErrTaskDead      = errors.New("assign: task failed for good")
	ErrTaskCancelled = errors.New("assign: task cancelled")
	ErrTaskExpired   = errors.New("assign: task expired")
	ErrTaskSkipped   = errors.New("assign: task skipped")
	ErrTaskNotFound  = errors.New("assign: task not found")
	ErrGroupKept     = errors.New("assign: tasks of an earlier group are kept")
	ErrTaskEnded     = errors.New("assign: task has ended")
	ErrOutputGone    = errors.New("assign: the output is no longer kept: read it sooner, or raise LargeRetention")
)

// Errors of a worker's set-up and of its end.
var (
	ErrDuplicateKind = errors.New("assign: the kind has a handler already")
	ErrHandlersStuck = errors.New("assign: handlers still run after their contexts have ended: return when ctx is done")
	// ErrWorkerPanicked is a fault of this library, or of the memory.
	ErrWorkerPanicked = errors.New("assign: the worker has panicked outside its handlers, so its session ends: " +
		"report this with its stack")
)

// ErrLimitsDiffer says that two programs declare different limits under one version.
var ErrLimitsDiffer = errors.New(
	"assign: two programs declare a kind differently: give the later one a higher LimitsVersion")

// ErrUnreachable is the fault of a scheduler that cannot reach a worker.
var ErrUnreachable = errors.New("assign: the worker lives, and messages do not reach it: it is given nothing")

// ErrSuspect is the fault of tasks that may have taken down their worker.
var ErrSuspect = errors.New("assign: runs again as a suspect")

// Errors that end a scheduler's term.
var (
	ErrFenced       = errors.New("assign: a later scheduler has taken over")
	ErrInconsistent = errors.New(
		"assign: the scheduler's state contradicts itself; the next term reads the stream again")
	ErrAttemptsExhausted = errors.New(
		"assign: the attempts of this epoch are used up; the next term counts from the start")
)
