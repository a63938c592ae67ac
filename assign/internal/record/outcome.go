package record

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// Outcome is the end of a task, as it is stored.
type Outcome struct {
	Fields
	Data    []byte // the output, or where it is; for a dead task its input
	Object  bool   // data is an objectRecord
	failure string // a failureRecord, "" for none
	trace   string
}

// EncodeOutcome encodes the end of a task for its record. input is the task's submission: a dead
// task keeps the parts of it that a requeue needs. Without an input it keeps nothing.
func EncodeOutcome(kind string, o tasks.Outcome, trace string, input *Submitted) ([]natskv.Field, []byte) {
	record := Fields{
		Version: 1, Kind: kind, Status: o.Status, Cause: o.Cause, Epoch: o.Attempt.Epoch, Attempt: o.Attempt.N,
		Attempts: o.Tries, Worker: o.Instance, Ran: o.Ran / 1000,
	}
	h := make([]natskv.Field, 0, 2)
	set := func(name, value string) {
		if value != "" {
			h = append(h, natskv.Field{Name: name, Value: value})
		}
	}
	set(HeaderOutcome, string(record.append(make([]byte, 0, 192))))
	set(HeaderTrace, trace)
	f, _ := o.Body.(*frame.Finding)
	if o.Status == tasks.StatusSucceeded {
		if f == nil {
			return h, nil
		}
		if f.Stored {
			set(headerObject, "1")
		}
		return h, f.Data
	}
	if f != nil {
		set(HeaderFailure, fitFailure(f.Data))
	}
	if o.Status != tasks.StatusDead || input == nil {
		return h, nil
	}
	set(HeaderTask, input.Task)
	set(HeaderKeys, input.Keys)
	set(HeaderMeta, input.Meta)
	set(HeaderAfter, input.After)
	set(HeaderHistory, input.History)
	return h, input.Data
}

// Submitted is the part of a submission that a requeue needs. History is that of the attempts
// before the last one, for people.
type Submitted struct {
	Task, Keys, Meta, After, History string
	Data                             []byte
}

// DecodeOutcome reads an outcome. It returns nil if the record is not an outcome.
func DecodeOutcome(h nats.Header, data []byte) (*Outcome, error) {
	text := h[HeaderOutcome]
	if len(text) == 0 {
		return nil, nil
	}
	o := &Outcome{
		Data: data, Object: First(h[headerObject]) != "", failure: First(h[HeaderFailure]), trace: First(h[HeaderTrace]),
	}
	if err := o.read(text[0]); err != nil {
		return nil, err
	}
	return o, nil
}

// read takes the header of an outcome.
func (o *Outcome) read(text string) error {
	if !o.parse(text) {
		o.Fields = Fields{}
		if err := json.Unmarshal([]byte(text), &o.Fields); err != nil {
			return fmt.Errorf("%w: %w", ErrRecord, err)
		}
	}
	switch o.Status {
	case tasks.StatusSucceeded, tasks.StatusDead, tasks.StatusCancelled, tasks.StatusExpired, tasks.StatusSkipped:
	default:
		return ErrRecord
	}
	if o.Version != 1 {
		return ErrRecord
	}
	return nil
}

// Last is the attempt that was current when the task ended.
func (o *Outcome) Last() tasks.Attempt { return tasks.Attempt{Epoch: o.Epoch, N: o.Attempt} }

// EndedAs is how a task has ended, by its record, and the attempt that was current. Both are
// zero if that cannot be read.
func EndedAs(e *natskv.Entry) (tasks.Status, tasks.Attempt) {
	var o Outcome
	if o.read(First(e.Header[HeaderOutcome])) != nil {
		return "", tasks.Attempt{}
	}
	return o.Status, tasks.Attempt{Epoch: o.Epoch, N: o.Attempt}
}

// Failure says why an attempt failed. It is the header Task-Failure of an outcome other than a
// success, and the worker's report of an attempt that failed.
type Failure struct {
	Error string `json:"error"`
	Stack string `json:"stack,omitempty"`
}

// fitFailure is a failure as a worker reported it, shortened if it has to be: it goes into a
// header.
func fitFailure(data []byte) string {
	if len(data) <= maxFailure {
		return string(data)
	}
	var f Failure
	if json.Unmarshal(data, &f) != nil {
		return ""
	}
	const most = maxFailure / 16 // an escape takes six bytes at most
	f.Error, f.Stack = f.Error[:min(len(f.Error), most)], f.Stack[:min(len(f.Stack), most)]
	short, err := json.Marshal(f)
	if err != nil {
		return ""
	}
	return string(short)
}

// Why is the text of the error that the last attempt's handler returned, and the stack of its
// panic.
func (o *Outcome) Why() (message, stack string) {
	var f Failure
	if o.failure != "" && json.Unmarshal([]byte(o.failure), &f) == nil {
		return f.Error, f.Stack
	}
	return "", ""
}
