package assign

import "context"

// Get asks the stream about a task, and the scheduler if the task is open. While nobody leads, or
// the leader does not answer in time, an open task is reported as pending or delayed, though it may
// run: only the scheduler knows. Errors: ErrTaskNotFound, ErrInvalidID, ErrNoClient, ErrClosed, the
// connection's, ctx's.
func Get(ctx context.Context, in Submitter, id string) (TaskStatus, error) {
	c, err := clientOfTask(ctx, in, id)
	if err != nil {
		return TaskStatus{ID: id}, err
	}
	s, err := c.Get(ctx, id)
	return statusFrom(&s), err
}
