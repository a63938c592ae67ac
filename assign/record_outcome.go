package assign

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// outcomeRecord is the header of an outcome.
type outcomeRecord struct {
	Version  int          `json:"v"`
	Kind     string       `json:"kind"`
	Status   tasks.Status `json:"status"`
	Cause    string       `json:"cause,omitempty"`
	Epoch    uint64       `json:"epoch,omitempty"`
	Attempt  uint32       `json:"attempt,omitempty"`
	Attempts int          `json:"attempts"`
	Worker   string       `json:"worker,omitempty"`
	Ran      int64        `json:"ran_us,omitempty"`
}

// outcome is the end of a task, as it is stored.
type outcome struct {
	outcomeRecord
	data    []byte // the output, or where it is; of a task that is dead the input
	object  bool   // data is an objectRecord
	failure string // a failureRecord, "" for none
	trace   string
}

// encodeOutcome is the end of a task as it is to be stored; input is its submission, of which a dead task keeps what is
// needed to submit it again. Without one it keeps nothing.
func encodeOutcome(kind string, o tasks.Outcome, trace string, input *submitted) ([]natskv.Field, []byte) {
	record := outcomeRecord{
		Version: 1, Kind: kind, Status: o.Status, Cause: o.Cause, Epoch: o.Attempt.Epoch, Attempt: o.Attempt.N,
		Attempts: o.Tries, Worker: o.Instance, Ran: o.Ran / 1000,
	}
	h := make([]natskv.Field, 0, 2)
	set := func(name, value string) {
		if value != "" {
			h = append(h, natskv.Field{Name: name, Value: value})
		}
	}
	set(headerOutcome, string(record.append(make([]byte, 0, 192))))
	set(headerTrace, trace)
	f, _ := o.Body.(*tasks.Finding)
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
		set(headerFailure, fitFailure(f.Data))
	}
	if o.Status != tasks.StatusDead || input == nil {
		return h, nil
	}
	set(headerTask, input.task)
	set(headerKeys, input.keys)
	set(headerMeta, input.meta)
	return h, input.data
}

// submitted is a submission with what a requeue needs.
type submitted struct {
	task, keys, meta string
	data             []byte
}

// decodeOutcome reads an outcome; nil when the record is none.
func decodeOutcome(h nats.Header, data []byte) (*outcome, error) {
	text := h[headerOutcome]
	if len(text) == 0 {
		return nil, nil
	}
	o := &outcome{
		data: data, object: first(h[headerObject]) != "", failure: first(h[headerFailure]), trace: first(h[headerTrace]),
	}
	if err := o.read(text[0]); err != nil {
		return nil, err
	}
	return o, nil
}

// read takes the header of an outcome.
func (o *outcome) read(text string) error {
	if !o.parse(text) {
		o.outcomeRecord = outcomeRecord{}
		if err := json.Unmarshal([]byte(text), &o.outcomeRecord); err != nil {
			return fmt.Errorf("%w: %w", errRecord, err)
		}
	}
	switch o.Status {
	case tasks.StatusSucceeded, tasks.StatusDead, tasks.StatusCancelled, tasks.StatusExpired:
	default:
		return errRecord
	}
	if o.Version != 1 {
		return errRecord
	}
	return nil
}

// endedAs is how a task has ended, by its record, and the attempt that was on the books; zero when that cannot be read.
func endedAs(e *natskv.Entry) (tasks.Status, tasks.Attempt) {
	var o outcome
	if o.read(first(e.Header[headerOutcome])) != nil {
		return "", tasks.Attempt{}
	}
	return o.Status, tasks.Attempt{Epoch: o.Epoch, N: o.Attempt}
}

// failureRecord says why an attempt failed; it is the header Task-Failure of an outcome that is no success, and what a
// worker reports of an attempt that failed.
type failureRecord struct {
	Error string `json:"error"`
	Stack string `json:"stack,omitempty"`
}

// fitFailure is a failure as a worker reported it, shortened if it has to be: it goes into a header.
func fitFailure(data []byte) string {
	if len(data) <= maxFailure {
		return string(data)
	}
	var f failureRecord
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

// err is the outcome as an error, nil for a success.
func (o *outcome) err(id string) error {
	if o.Status == tasks.StatusSucceeded {
		return nil
	}
	e := &TaskError{ID: id, Status: State(o.Status), Cause: o.Cause, Attempts: o.Attempts}
	var f failureRecord
	if o.failure != "" && json.Unmarshal([]byte(o.failure), &f) == nil {
		e.Message, e.Stack = f.Error, f.Stack
	}
	return e
}
