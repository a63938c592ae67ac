package assign

import (
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// Pending is a task that was submitted. It is safe for concurrent use and holds nothing that must
// be given back.
type Pending[Out any] struct {
	from   Submitter
	handle client.Handle
}

// Find returns the task of an id, no matter which client submitted it. Whether there is such a task
// shows when it is used. Wait returns ErrOtherKind if the task is of another kind than k. A k that
// returns []byte is an exception: it takes the output of any kind as it is.
func Find[In, Out any](in Submitter, k Kind[In, Out], id string) *Pending[Out] {
	kind := k.name
	if _, raw := any((*Out)(nil)).(*[]byte); raw {
		kind = ""
	}
	return &Pending[Out]{in, client.Find(id, kind)}
}

// ID is the id of the task.
func (p *Pending[Out]) ID() string { return p.handle.ID() }

// Existing reports whether Submit has found the task rather than stored it: one of the same id, or
// an open one with the same unique key. With [WithID], when an acknowledgement was lost, the two
// cannot be told apart. Then it is true.
func (p *Pending[Out]) Existing() bool { return p.handle.Existing() }

// Wait returns the task's output when the task has ended, however often it is called. ctx bounds
// the waiting only: the task continues. Errors: *TaskError (ErrTaskDead, ErrTaskCancelled,
// ErrTaskExpired, ErrTaskSkipped), ErrTaskNotFound (also when the outcome was missed, and is kept
// no longer), ErrOtherKind, ErrOutputGone, ErrClosed, the decoder's, ctx's.
func (p *Pending[Out]) Wait(ctx context.Context) (out Out, err error) {
	c, err := clientOfTask(ctx, p.from, p.ID())
	if err != nil {
		return out, err
	}
	data, ended, err := c.Output(ctx, p.handle)
	if err != nil {
		return out, err
	}
	if ended != nil {
		return out, taskError(p.ID(), ended)
	}
	if out, err = decode[Out](data); err != nil {
		return out, taskerr.Doing(err, "output of %s", p.ID())
	}
	return out, nil
}

// Status is [Get] for this task.
func (p *Pending[Out]) Status(ctx context.Context) (TaskStatus, error) {
	return Get(ctx, p.from, p.ID())
}

// Cancel ends the task. Its outcome is then cancelled, also if a handler that still runs returns a
// result.
// That handler's context ends with a cause that is ErrStopped and ErrTaskCancelled. The request is
// stored first, which needs no scheduler. Then Cancel waits until the task has ended.
//
// Errors: ErrTaskEnded when the task has ended in another way, ErrTaskNotFound, ErrInvalidID,
// ErrClosed. If ctx ends after the request was stored, ErrCancelPending and ctx's: the request
// takes effect when a scheduler leads. If ctx ends before, ctx's.
func (p *Pending[Out]) Cancel(ctx context.Context) error {
	c, err := clientOfTask(ctx, p.from, p.ID())
	if err != nil {
		return err
	}
	return c.Cancel(ctx, p.ID())
}
