package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/sealed"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Status is what is known about a task. Stack is that of a panic, for a dead task. Failures are
// those of a task that is open or dead. Epoch, Input and Checkpoint are those of one that Get has
// read, as far as they were kept. KeptUntil and Needed are of a task that has ended.
type Status struct {
	control.Task
	Stack    string
	Failures []record.Failed
	Input    []byte
	Sealed   *taskerr.SealedError // why Input is not there, nil if it is

	Checkpoint       []byte
	CheckpointSealed *taskerr.SealedError // as Sealed

	After     []string
	KeptUntil time.Time
	Needed    bool // an open task waits for it
}

// Get asks the stream about a task, and the scheduler about one that is open.
func (c *Client) Get(ctx context.Context, id string) (Status, error) {
	st, err := c.get(ctx, id)
	if err == nil && (!terminal(st.State) || st.State == tasks.StateDead && len(st.Input) > 0) {
		if st.Input, err = c.sealer.Open(sealed.Input, id, st.Input); errors.As(err, &st.Sealed) {
			err = nil
		}
	}
	if err == nil && len(st.Checkpoint) > 0 {
		st.Checkpoint, err = c.sealer.Open(sealed.Checkpoint, id, st.Checkpoint)
		if errors.As(err, &st.CheckpointSealed) {
			err = nil
		}
	}
	return st, err
}

func (c *Client) get(ctx context.Context, id string) (Status, error) {
	none := Status{Task: control.Task{ID: id}}
	l, err := c.opened(ctx)
	if err != nil {
		return none, err
	}
	o, e, err := c.read(ctx, l, id)
	if err != nil {
		return none, c.offline(err)
	}
	if o != nil {
		return settledStatus(id, o, &e.Entry), nil
	}
	st, err := openStatus(id, &e.Entry)
	if err != nil {
		return st, err
	}
	st.Input = e.Value
	if err := c.history(ctx, l, &st, e.Revision); err != nil {
		return st, c.offline(err)
	}
	answer, err := c.ask(ctx, control.Query{Op: control.OpStatus, ID: id})
	switch {
	case errors.Is(err, taskerr.ErrNoScheduler):
		return st, nil
	case err != nil:
		return st, c.offline(err)
	case answer.OK && answer.Task != nil:
		st.look(answer.Task)
		return st, nil
	}
	// The scheduler has not read the submission yet, or has just stored the outcome.
	if o, e, err := c.read(ctx, l, id); err == nil && o != nil {
		return settledStatus(id, o, &e.Entry), nil
	}
	return st, nil
}

// settledStatus is endedStatus with what only Get tells.
func settledStatus(id string, o *record.Outcome, e *natskv.Entry) Status {
	st := endedStatus(id, o, e)
	st.Epoch = o.Epoch
	return st
}

// history reads about the attempts that an open task has had, from the note of its submission at
// revision, and what they have left. The epoch may be that of an earlier attempt than the last:
// only the scheduler knows.
func (c *Client) history(ctx context.Context, l *line, st *Status, revision uint64) error {
	note, err := c.look(ctx, l, record.NoteKey+st.ID)
	if err != nil {
		return taskerr.Doing(err, "note of %s", st.ID)
	}
	if note.Revision > revision && !note.Marker {
		st.Failures = record.Failures(record.First(note.Header[record.HeaderHistory]))
		if r, err := record.DecodeNote(note.Value); err == nil {
			st.Epoch = max(r.Attempt.Epoch, r.Started.Epoch)
		}
	}
	saved, err := c.look(ctx, l, record.CheckpointKey+st.ID)
	if err != nil {
		return taskerr.Doing(err, "checkpoint of %s", st.ID)
	}
	if saved.Revision > revision && !saved.Marker {
		if len(saved.Value) > 0 { // else it was taken back
			st.Checkpoint = saved.Value
		}
		text, _, _ := strings.Cut(record.First(saved.Header[record.HeaderAttempt]), ".")
		if epoch, err := strconv.ParseUint(text, 10, 64); err == nil {
			st.Epoch = max(st.Epoch, epoch)
		}
	}
	return nil
}

// look takes the scheduler's knowledge of an open task. The submission says the rest.
func (st *Status) look(t *control.Task) {
	st.State, st.Reason, st.Attempts, st.Worker, st.Progress, st.Due = t.State, t.Reason, t.Attempts, t.Worker,
		roundProgress(t.Progress), t.Due
	if t.Epoch > 0 { // else the scheduler is of an earlier version, or there was no attempt
		st.Epoch = t.Epoch
	}
}

// submitter takes the parts of a record that are the submitter's. An outcome has them too, as far
// as they were kept.
func (st *Status) submitter(e *natskv.Entry) error {
	st.TraceParent = record.First(e.Header[record.HeaderTrace])
	if text := record.First(e.Header[record.HeaderMeta]); text != "" {
		if err := json.Unmarshal([]byte(text), &st.Headers); err != nil {
			return fmt.Errorf("assign: headers of %s: %w: %w", st.ID, record.ErrRecord, err)
		}
	}
	if text := record.First(e.Header[record.HeaderAfter]); text != "" {
		after, err := record.ParseAfter(text)
		if err != nil {
			return fmt.Errorf("assign: what %s waits for: %w", st.ID, err)
		}
		st.After = after.IDs
	}
	keys, err := record.ParseKeys(record.First(e.Header[record.HeaderKeys]))
	if err != nil {
		return fmt.Errorf("assign: keys of %s: %w", st.ID, err)
	}
	if keys != nil {
		st.Keys = &control.Keys{Unique: keys.Unique, Sticky: keys.Sticky, Limit: keys.Limit, Fair: keys.Fair}
	}
	return nil
}

// openStatus is the status of an open task as its submission has it.
func openStatus(id string, e *natskv.Entry) (Status, error) {
	st := Status{Task: control.Task{ID: id, State: tasks.StatePending, Submitted: e.Time}}
	p, err := record.ParsePolicy(record.First(e.Header[record.HeaderTask]))
	if err != nil {
		return st, fmt.Errorf("assign: submission of %s: %w", id, err)
	}
	st.Kind, st.Priority = p.Kind, p.Priority
	if due := p.Times().Due(e.Time); due.After(e.Time) && time.Now().Before(due) {
		st.State, st.Due = tasks.StateDelayed, due
	}
	return st, st.submitter(e)
}

// endedStatus is the status of a task that has ended.
func endedStatus(id string, o *record.Outcome, e *natskv.Entry) Status {
	st := Status{Task: control.Task{
		ID: id, Kind: o.Kind, State: tasks.State(o.Status), Attempts: o.Attempts, Worker: o.Worker, Ended: record.EndedAt(e),
		Ran: time.Duration(o.Ran) * time.Microsecond, Cause: o.Cause,
	}, KeptUntil: e.KeptUntil(), Needed: needed(e)}
	if o.Status == tasks.StatusSucceeded {
		st.Progress = 1
	} else {
		st.Error, st.Stack = o.Why()
	}
	if o.Status == tasks.StatusDead {
		st.Input = o.Data
		st.Failures = append(record.Failures(record.First(e.Header[record.HeaderHistory])), record.Failed{
			Epoch: o.Epoch, Attempt: o.Attempt, Cause: o.Cause, Worker: o.Worker, Ended: record.EndedAt(e), Ran: o.Ran,
			Error: st.Error,
		})
	}
	if p, err := record.ParsePolicy(record.First(e.Header[record.HeaderTask])); err == nil { // of a dead task
		st.Priority = p.Priority
	}
	_ = st.submitter(e) // the end is known, even if the submitter's part cannot be read
	return st
}

// terminal reports whether a task in this state has ended.
func terminal(s tasks.State) bool {
	switch s {
	case tasks.StateSucceeded, tasks.StateDead, tasks.StateCancelled, tasks.StateExpired, tasks.StateSkipped:
		return true
	}
	return false
}

// roundProgress rounds a fraction of 32 bits to four digits, and bounds it: an answer may hold any
// number.
func roundProgress(f float64) float64 { return math.Round(min(max(f, 0), 1)*1e4) / 1e4 }
