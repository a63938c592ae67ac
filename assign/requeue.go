package assign

import "context"

// Requeue submits a dead task once more, under the same id, with the same input, options and keys,
// and with all its attempts. Delay and deadline count from now. Requeue needs no leader. A
// [Pending] that has learned of the first end, or learns of it while another client requeues the
// task, keeps that outcome: [Find] waits for the next one. Errors: ErrNotDead, ErrTaskNotFound,
// ErrKeyTaken, ErrInvalidID, ErrClosed, permanent faults of the connection, ctx's: then the task
// may be requeued or not.
func Requeue(ctx context.Context, in Submitter, id string) error {
	c, err := clientOfTask(ctx, in, id)
	if err != nil {
		return err
	}
	return c.Requeue(ctx, id)
}
