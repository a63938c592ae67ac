package assign

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// Task is one attempt at a task, as its handler sees it.
type Task[In any] struct {
	// Input is the input that was submitted.
	Input In

	run bridge.TaskRun
}

func init() {
	bridge.FillTask = func(task any, r bridge.TaskRun) { task.(running).fill(r) }
	bridge.RunOf = func(task any) bridge.TaskRun { return task.(running).attempt() }
}

// running is a Task of any input.
type running interface {
	fill(r bridge.TaskRun)
	attempt() bridge.TaskRun
}

func (t *Task[In]) fill(r bridge.TaskRun)   { t.run = r }
func (t *Task[In]) attempt() bridge.TaskRun { return t.run }

// ID is the id of the task, the same for every attempt.
func (t *Task[In]) ID() string { return t.run.ID }

// Kind is the name of the task's kind.
func (t *Task[In]) Kind() string { return t.run.Kind }

// Attempt counts the attempts that ran, this one included, from 1. An attempt that ended together
// with its scheduler may be unknown to the next one, and is not counted then. Use Fence to tell
// attempts apart.
func (t *Task[In]) Attempt() int { return t.run.Attempt }

// Fence is the fencing token of this attempt. Send it along with every effect on the outside, and
// let a [fencing.Guard] refuse the attempts before it. Its role is "task/<id>". It is ordered by
// the scheduler's epoch and the attempt.
func (t *Task[In]) Fence() fencing.Token { return t.run.Token }

// TraceParent is the W3C traceparent that the task was submitted with, "" for none.
func (t *Task[In]) TraceParent() string { return t.run.Trace }

// Header is one header of the submission, "" for none.
func (t *Task[In]) Header(key string) string { return t.run.Headers[key] }

// Headers are all headers of the submission, in a map that belongs to the caller; nil for none.
func (t *Task[In]) Headers() map[string]string { return maps.Clone(t.run.Headers) }

// Checkpoint is the checkpoint that an earlier attempt has left with [Task.Progress]: the last one
// that Progress has returned for, or a later one. nil for none.
func (t *Task[In]) Checkpoint() []byte { return t.run.Checkpoint }

// Progress reports how far the attempt is, as a fraction of 1. A fraction outside of 0 to 1 is
// taken as the nearest bound.
//
// Without a checkpoint (nil) Progress hands the fraction over and returns at once. The scheduler
// hears the latest fraction, some ten times a second at most, and none after the attempt has ended.
// With a checkpoint, of at most 16 KiB, Progress returns when the checkpoint is stored: the next
// attempt gets this one or a later one. An empty checkpoint removes the one that was stored before.
//
// To save a last checkpoint when ctx has ended by [ErrDraining] or [ErrTimeout], pass
// context.WithoutCancel(ctx): the attempt still counts until its handler returns.
//
// Errors: ErrCheckpointTooLarge, ErrSessionLost, ErrStopped, ErrStale, ErrAttemptEnded, the cause
// of ctx's end. After the last one the checkpoint may be stored or not.
func (t *Task[In]) Progress(ctx context.Context, fraction float64, checkpoint []byte) error {
	if len(checkpoint) > record.MaxCheckpoint {
		return fmt.Errorf("%w: %d bytes, the limit is %d: store it elsewhere, and its name here", ErrCheckpointTooLarge,
			len(checkpoint), record.MaxCheckpoint)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t.run.Reporter == nil { // no worker has made it
		return nil
	}
	return t.run.Reporter.Progress(ctx, nearest(fraction), bytes.Clone(checkpoint)) // Clone keeps nil apart from empty
}

// nearest is a fraction within its bounds, and 0 for NaN.
func nearest(fraction float64) float64 {
	if !(fraction > 0) {
		return 0
	}
	return min(fraction, 1)
}
