package assign

import (
	"context"
	"fmt"
	"reflect"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// RequeueOption changes what a task is requeued with.
type RequeueOption func(*requeue)

type requeue struct {
	input   any
	changed bool
}

// WithInput requeues a task with another input, which is encoded like that of [Submit]: []byte is
// taken as it is. The kind stays the same.
func WithInput(input any) RequeueOption {
	return func(r *requeue) { r.input, r.changed = input, true }
}

// Requeue submits a dead task once more, under the same id, with the same input (or another one,
// see [WithInput]), options and keys, and with all its attempts. Delay and deadline count from now.
// It waits for nothing: the outcomes of tasks that it had to wait for, and the outputs that it
// reads ([Ref]), may have left. Give those a Retention as long as this task may be dead for.
// Requeue needs no leader. A [Pending] that has learned of the first end, or learns of it while
// another client requeues the task, keeps that outcome: [Find] waits for the next one. Errors:
// ErrNotDead, ErrTaskNotFound, ErrKeyTaken, ErrTooLarge, ErrInvalidID, ErrInvalidOption, ErrClosed,
// the encoder's, permanent faults of the connection, ctx's: then the task may be requeued or not.
func Requeue(ctx context.Context, in Submitter, id string, opts ...RequeueOption) error {
	var r requeue
	for i, o := range opts {
		if o == nil {
			return fmt.Errorf("%w: Requeue: option %d is nil: leave it out", ErrInvalidOption, i)
		}
		o(&r)
	}
	var input []byte
	if r.changed {
		var err error
		if input, err = encodeOf(r.input, reflect.TypeOf(r.input)); err != nil {
			return taskerr.Doing(err, "requeue %s", id)
		}
		if input == nil {
			input = []byte{}
		}
	}
	c, err := clientOfTask(ctx, in, id)
	if err != nil {
		return err
	}
	return c.Requeue(ctx, id, input)
}

// Delete removes a task that has ended, before it leaves by itself: its outcome, and the input that
// a dead task keeps. Its id is free again after a second. Delete needs no leader. A [Pending] of
// the task gets ErrTaskNotFound, unless it knows the outcome. Errors: ErrTaskOpen, ErrTaskNeeded,
// ErrTaskNotFound, ErrInvalidID, ErrClosed, permanent faults of the connection, ctx's: then the
// task may be deleted or not.
func Delete(ctx context.Context, in Submitter, id string) error {
	c, err := clientOfTask(ctx, in, id)
	if err != nil {
		return err
	}
	return c.Delete(ctx, id)
}
