package assign

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/seconds"
)

// TaskStatus is what is known about a task. Its JSON is the output of rolectl. While nobody leads,
// an open task is reported as pending or delayed, though it may run: only the scheduler knows.
type TaskStatus struct {
	ID    string `json:"id"`
	Kind  string `json:"kind,omitempty"`
	State State  `json:"state"`
	// Reason is why no worker has a pending task.
	Reason Reason `json:"reason,omitempty"`
	// Attempts counts the attempts that ran or run. One that was lost together with its scheduler
	// may be uncounted. Worker is the instance that has the task, or had it last.
	Attempts int    `json:"attempts,omitempty"`
	Worker   string `json:"worker,omitempty"`
	// Epoch is that of the last attempt, which [Task.Fence] has too; 0 before the first. [Get] alone
	// tells it. While nobody leads, or the leader is of an earlier version, it may be that of an
	// earlier attempt, or 0.
	Epoch uint64 `json:"epoch,omitempty"`
	// Progress is the last fraction of 1 that the present attempt has reported, to four digits.
	Progress float64 `json:"progress,omitempty"`
	Priority int     `json:"priority,omitempty"`
	// Submitted is when the task was stored. Due is when a task that is delayed or retrying may
	// run, by the scheduler's clock. Both are zero for a task that has ended, and only then Ended
	// is set.
	Submitted time.Time `json:"submitted,omitzero"`
	Due       time.Time `json:"due,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	// Ran is how long the last attempt of a task that has ended took.
	Ran time.Duration `json:"-"`
	// Error and Cause say why a task has ended other than by success. See TaskError.
	Error string `json:"error,omitempty"`
	Cause string `json:"cause,omitempty"`
	// Stack is that of the panic of which a task is dead, "" for none.
	Stack string `json:"stack,omitempty"`
	// Failures are the attempts of an open or a dead task that have failed or were lost with their
	// worker: the last eleven at most, the first ones first. [List] has them for dead tasks only.
	Failures []TaskFailure `json:"failures,omitempty"`
	// Input is what a task was submitted with, as it is encoded, if the task is open or dead. [Get]
	// alone reads it.
	Input []byte `json:"-"`
	// Sealed says why Input is nil though there is one: it is sealed, and this client cannot open it.
	Sealed *SealedError `json:"-"`
	// Checkpoint is what the next attempt of an open task would get: the last one that was stored
	// with [Task.Progress]. It is nil if there is none, and of a task that has ended. [Get] alone
	// reads it.
	Checkpoint []byte `json:"-"`
	// CheckpointSealed says why Checkpoint is nil though there is one, as Sealed does.
	CheckpointSealed *SealedError `json:"-"`
	// After are the tasks that an open or a dead task was to wait for. See [After].
	After []string `json:"after,omitempty"`
	// KeptUntil is when a task that has ended leaves the stream. Its id is free again then. It is
	// zero as long as an open task waits for this one.
	KeptUntil time.Time `json:"kept_until,omitzero"`
	// TraceParent and Headers are those of the submission.
	TraceParent string            `json:"trace_parent,omitempty"`
	Keys        *TaskKeys         `json:"keys,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	// Err is the *TaskError of a task that has ended other than by success.
	Err error `json:"-"`
}

// TaskKeys are the keys that a task was submitted with.
type TaskKeys struct {
	// Unique is the digest of the kind and the key.
	Unique string `json:"unique,omitempty"`
	Sticky string `json:"sticky,omitempty"`
	Limit  string `json:"limit,omitempty"`
	// Fair is the key of [FairBy].
	Fair string `json:"fair,omitempty"`
}

// TaskFailure is an attempt that has failed, or was lost with its worker.
type TaskFailure struct {
	// Worker is the instance that had the task, "" if that is not known.
	Worker string `json:"worker,omitempty"`
	// Cause is failed or worker_lost, and for the last attempt of a dead task the cause of its end.
	Cause string `json:"cause"`
	// Error is what the handler returned, 1 KiB of it at most but for the last attempt.
	Error string `json:"error,omitempty"`
	// Ended is by the scheduler's clock. Ran is how long the attempt took, zero if nobody knows.
	Ended time.Time     `json:"ended"`
	Ran   time.Duration `json:"-"`
}

// failuresFrom are failures for users.
func failuresFrom(all []record.Failed) (failures []TaskFailure) {
	for _, f := range all {
		failures = append(failures, TaskFailure{
			Worker: f.Worker, Cause: f.Cause, Error: f.Error, Ended: f.Ended, Ran: time.Duration(f.Ran) * time.Microsecond,
		})
	}
	return failures
}

// statusFrom is a status for users.
func statusFrom(s *client.Status) TaskStatus {
	st := TaskStatus{
		ID: s.ID, Kind: s.Kind, State: State(s.State), Reason: Reason(s.Reason), Attempts: s.Attempts, Worker: s.Worker,
		Progress: s.Progress,
		Priority: s.Priority, Submitted: s.Submitted, Due: s.Due, Ended: s.Ended, Ran: s.Ran, Error: s.Error, Cause: s.Cause,
		TraceParent: s.TraceParent, Keys: (*TaskKeys)(s.Keys), Headers: s.Headers,
		Stack: s.Stack, Failures: failuresFrom(s.Failures), Input: s.Input, Sealed: s.Sealed, KeptUntil: s.KeptUntil,
		After: s.After, Epoch: s.Epoch, Checkpoint: s.Checkpoint, CheckpointSealed: s.CheckpointSealed,
	}
	if st.State.Terminal() && st.State != StateSucceeded {
		st.Err = &TaskError{
			ID: s.ID, Status: st.State, Cause: s.Cause, Message: s.Error, Stack: s.Stack,
			Attempts: s.Attempts,
		}
	}
	return st
}

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

// The types without methods, whose fields are encoded beside those in seconds.
type (
	plainStatus  TaskStatus
	plainFailure TaskFailure
)

// MarshalJSON writes Ran as the number ran_seconds.
func (s TaskStatus) MarshalJSON() ([]byte, error) { return json.Marshal(s.shape()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *TaskStatus) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, s.shape()) }

func (s *TaskStatus) shape() any {
	return &struct {
		*plainStatus
		Ran *seconds.Duration `json:"ran_seconds,omitzero"`
	}{(*plainStatus)(s), (*seconds.Duration)(&s.Ran)}
}

// MarshalJSON writes Ran as the number ran_seconds.
func (f TaskFailure) MarshalJSON() ([]byte, error) { return json.Marshal(f.shape()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (f *TaskFailure) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, f.shape()) }

func (f *TaskFailure) shape() any {
	return &struct {
		*plainFailure
		Ran *seconds.Duration `json:"ran_seconds,omitzero"`
	}{(*plainFailure)(f), (*seconds.Duration)(&f.Ran)}
}
