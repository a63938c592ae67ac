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
	// Input is what was submitted.
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

// Attempt counts the attempts that ran, this one included, from 1. One that ended together with its scheduler may not be known to
// the next, and is not counted then: use Fence to tell attempts apart.
func (t *Task[In]) Attempt() int { return t.run.Attempt }

// Fence is the fencing token of this attempt: send it along with every effect on the outside, and let a [fencing.Guard]
// refuse the attempts before it. Its role is "task/<id>"; it is ordered by the scheduler's epoch and the attempt.
func (t *Task[In]) Fence() fencing.Token { return t.run.Token }

// TraceParent is the W3C traceparent that the task was submitted with, "" for none.
func (t *Task[In]) TraceParent() string { return t.run.Trace }

// Header is a header of the submitter's, "" for none.
func (t *Task[In]) Header(key string) string { return t.run.Headers[key] }

// Headers are all headers of the submitter's, in a map of the caller's own; nil for none.
func (t *Task[In]) Headers() map[string]string { return maps.Clone(t.run.Headers) }

// Checkpoint is what an earlier attempt has left with [Task.Progress]: the last that it was told is stored, or a later one.
// nil for none.
func (t *Task[In]) Checkpoint() []byte { return t.run.Checkpoint }

// Progress says how far the attempt is, fraction of 1 (what is outside is taken as the nearest).
//
// Without a checkpoint (nil) it hands that over and returns at once. The scheduler hears the latest, some ten times a second
// at most, and nothing after the attempt has ended. With one, of at most 16 KiB, it returns when the checkpoint is stored: the
// next attempt gets this one or a later one. An empty one takes back what was stored before.
//
// To save a last checkpoint when ctx has ended by [ErrDraining] or [ErrTimeout], pass context.WithoutCancel(ctx): the
// attempt is still on the books until its handler returns.
//
// Errors: ErrCheckpointTooLarge, ErrSessionLost, ErrStopped, ErrStale, ErrAttemptEnded, the cause of ctx's end. After the last
// one the checkpoint may be stored or not.
func (t *Task[In]) Progress(ctx context.Context, fraction float64, checkpoint []byte) error {
	if len(checkpoint) > record.MaxCheckpoint {
		return fmt.Errorf("%w: %d bytes, the limit is %d: store it elsewhere, and its name here", ErrCheckpointTooLarge, len(checkpoint), record.MaxCheckpoint)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t.run.Reporter == nil { // no worker has made it
		return nil
	}
	return t.run.Reporter.Progress(ctx, nearest(fraction), bytes.Clone(checkpoint)) // which keeps nil apart from empty
}

// nearest is a fraction in its bounds; what is no number is 0.
func nearest(fraction float64) float64 {
	if !(fraction > 0) {
		return 0
	}
	return min(fraction, 1)
}
