package assign

import "context"

// Requeue submits a dead task once more, under the same id, with the same input, options and keys, and with all its
// attempts; delay and deadline count from now. It needs no leader. A [Pending] that has been told of the first end, or is while
// another client requeues the task, stays with it: [Find] waits for the next one. Errors: ErrNotDead, ErrTaskNotFound, ErrKeyTaken,
// ErrInvalidID, ErrClosed, permanent faults of the connection, ctx's: then it may be requeued or not.
func Requeue(ctx context.Context, in Submitter, id string) error {
	c, err := clientOfTask(ctx, in, id)
	if err != nil {
		return err
	}
	return c.Requeue(ctx, id)
}
