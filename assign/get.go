package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Get asks the stream about a task, and the scheduler about one that is open. While nobody leads, or the leader does not answer
// in time, an open task is said to be pending or delayed, though it may run: only the scheduler knows. Errors: ErrTaskNotFound,
// ErrInvalidID, ErrNoClient, ErrClosed, the connection's, ctx's.
func Get(ctx context.Context, in Submitter, id string) (TaskStatus, error) {
	c, l, err := (&pending{from: in, id: id}).client(ctx)
	if err != nil {
		return TaskStatus{ID: id}, err
	}
	o, e, err := c.read(ctx, l, id)
	if err != nil {
		return TaskStatus{ID: id}, c.offline(err)
	}
	if o != nil {
		return endedStatus(id, o, &e), nil
	}
	st, err := openStatus(id, &e)
	if err != nil {
		return st, err
	}
	answer, err := c.ask(ctx, query{Op: opStatus, ID: id})
	switch {
	case errors.Is(err, ErrNoScheduler):
		return st, nil
	case err != nil:
		return st, c.offline(err)
	case answer.OK && answer.Task != nil:
		st.look(answer.Task)
		return st, nil
	}
	// It has not read the submission yet, or has just stored the outcome.
	if o, e, err := c.read(ctx, l, id); err == nil && o != nil {
		return endedStatus(id, o, &e), nil
	}
	return st, nil
}

// look takes what the scheduler knows of an open task; the submission says the rest.
func (st *TaskStatus) look(t *TaskStatus) {
	st.State, st.Reason, st.Attempts, st.Worker, st.Progress, st.Due = t.State, t.Reason, t.Attempts, t.Worker, roundProgress(t.Progress), t.Due
}

// submitter is what a record says in the submitter's words; an outcome says it too, as far as it was kept.
func (st *TaskStatus) submitter(e *natskv.Entry) error {
	st.TraceParent = first(e.Header[headerTrace])
	if text := first(e.Header[headerMeta]); text != "" {
		if err := json.Unmarshal([]byte(text), &st.Headers); err != nil {
			return fmt.Errorf("assign: headers of %s: %w: %w", st.ID, errRecord, err)
		}
	}
	keys, err := parseKeys(first(e.Header[headerKeys]))
	if err != nil {
		return fmt.Errorf("assign: keys of %s: %w", st.ID, err)
	}
	if keys != nil {
		st.Keys = &TaskKeys{Unique: keys.Unique, Sticky: keys.Sticky, Limit: keys.Limit}
	}
	return nil
}

// openStatus is the status of an open task as its submission has it.
func openStatus(id string, e *natskv.Entry) (TaskStatus, error) {
	st := TaskStatus{ID: id, State: StatePending, Submitted: e.Time}
	p, err := parsePolicy(first(e.Header[headerTask]))
	if err != nil {
		return st, fmt.Errorf("assign: submission of %s: %w", id, err)
	}
	st.Kind, st.Priority = p.Kind, p.Priority
	if delay := p.times().Delay; delay > 0 {
		if due := e.Time.Add(delay); time.Now().Before(due) {
			st.State, st.Due = StateDelayed, due
		}
	}
	return st, st.submitter(e)
}

// endedStatus is the status of a task that has ended.
func endedStatus(id string, o *outcome, e *natskv.Entry) TaskStatus {
	st := TaskStatus{
		ID: id, Kind: o.Kind, State: State(o.Status), Attempts: o.Attempts, Worker: o.Worker, Ended: e.Time,
		Ran: time.Duration(o.Ran) * time.Microsecond, Cause: o.Cause, Err: o.err(id),
	}
	if st.State == StateSucceeded {
		st.Progress = 1
	}
	if failed := (*TaskError)(nil); errors.As(st.Err, &failed) {
		st.Error = failed.Message
	}
	if p, err := parsePolicy(first(e.Header[headerTask])); err == nil { // of a dead task
		st.Priority = p.Priority
	}
	_ = st.submitter(e) // how it has ended is known whatever its submitter said
	return st
}
