package assign

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Headers of the records at <namespace>.q.<task>: exactly one of the first two, JSON that is the same for all tasks that
// are submitted alike. The data is the input, or the output, or what went wrong.
const (
	headerTask    = "Task"
	headerOutcome = "Task-Outcome"
	headerTrace   = "traceparent"
)

var errRecord = errors.New("not a record of version 1")

func (p policy) check() error {
	const most = int64(10 * 365 * 24 * time.Hour / time.Millisecond)
	for _, ms := range []int64{p.Timeout, p.Backoff, p.MaxBack, p.Delay, p.Deadline, p.Retention} {
		if ms < 0 || ms > most {
			return fmt.Errorf("a duration is not within 10 years")
		}
	}
	switch {
	case !protocol.ValidName(p.Kind):
		return fmt.Errorf("%q cannot name a kind: use letters, digits, - _ = / and dots between them", p.Kind)
	case p.Attempts < 1 || p.Attempts > 10_000:
		return fmt.Errorf("%d attempts: use 1 to 10000", p.Attempts)
	case p.Backoff < 1 || p.MaxBack < p.Backoff:
		return fmt.Errorf("backoff %d ms up to %d ms: use a positive one, and no less at most", p.Backoff, p.MaxBack)
	}
	return nil
}

// parsePolicy reads the header of a submission.
func parsePolicy(header string) (*tasks.Policy, error) {
	var p policy
	if err := json.Unmarshal([]byte(header), &p); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if p.Version != 1 {
		return nil, errRecord
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return &tasks.Policy{
		Kind: p.Kind, MaxAttempts: p.Attempts, Timeout: ms(p.Timeout), Backoff: ms(p.Backoff), MaxBackoff: ms(p.MaxBack),
		Delay: ms(p.Delay), Deadline: ms(p.Deadline), Retention: max(time.Duration(p.Retention)*time.Second, minRetention),
	}, nil
}

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
	data []byte
}

func encodeOutcome(kind string, o tasks.Outcome) (nats.Header, []byte, error) {
	header, err := json.Marshal(outcomeRecord{
		Version: 1, Kind: kind, Status: o.Status, Cause: o.Cause, Epoch: o.Attempt.Epoch, Attempt: o.Attempt.N,
		Attempts: o.Tries, Worker: o.Instance, Ran: o.Ran / 1000,
	})
	data, _ := o.Body.([]byte)
	return nats.Header{headerOutcome: {string(header)}}, data, err
}

// decodeOutcome reads an outcome; nil when the record is none.
func decodeOutcome(h nats.Header, data []byte) (*outcome, error) {
	text := h[headerOutcome]
	if len(text) == 0 {
		return nil, nil
	}
	o := &outcome{data: data}
	if err := json.Unmarshal([]byte(text[0]), &o.outcomeRecord); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	switch o.Status {
	case tasks.StatusSucceeded, tasks.StatusDead, tasks.StatusCancelled, tasks.StatusExpired:
	default:
		return nil, errRecord
	}
	if o.Version != 1 {
		return nil, errRecord
	}
	return o, nil
}

// failureRecord is the data of an outcome that is no success.
type failureRecord struct {
	Error string `json:"error"`
	Stack string `json:"stack,omitempty"`
}

// err is the outcome as an error, nil for a success.
func (o *outcome) err(id string) error {
	if o.Status == tasks.StatusSucceeded {
		return nil
	}
	e := &TaskError{ID: id, Status: State(o.Status), Cause: o.Cause, Attempts: o.Attempts}
	var f failureRecord
	if len(o.data) > 0 && json.Unmarshal(o.data, &f) == nil {
		e.Message, e.Stack = f.Error, f.Stack
	}
	return e
}

// noteRecord is the data of a note, <namespace>.t.<task>.
type noteRecord struct {
	Version  int    `json:"v"`
	Epoch    uint64 `json:"epoch"`
	Attempt  uint32 `json:"attempt"`
	Failures int    `json:"failures,omitempty"`
	Crashes  int    `json:"crashes,omitempty"`
	Snoozes  int    `json:"snoozes,omitempty"`
	// Wait counts from when the note was stored.
	Wait int64 `json:"wait_ms,omitempty"`
}

func encodeNote(r tasks.Retry) ([]byte, error) {
	return json.Marshal(noteRecord{
		1, r.Attempt.Epoch, r.Attempt.N, r.Failures, r.Crashes, r.Snoozes, (r.Wait + time.Millisecond - 1).Milliseconds(),
	})
}

func decodeNote(data []byte) (tasks.Retry, error) {
	var n noteRecord
	if err := json.Unmarshal(data, &n); err != nil {
		return tasks.Retry{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	if n.Version != 1 || n.Wait < 0 || n.Wait > int64(1<<40) || n.Failures < 0 || n.Crashes < 0 || n.Snoozes < 0 {
		return tasks.Retry{}, errRecord
	}
	return tasks.Retry{
		Attempt:  tasks.Attempt{Epoch: n.Epoch, N: n.Attempt},
		Failures: n.Failures, Crashes: n.Crashes, Snoozes: n.Snoozes, Wait: time.Duration(n.Wait) * time.Millisecond,
	}, nil
}

// sealRecord is the data of the seal. Mark is the term's own: it tells our lost acknowledgements from others' seals.
type sealRecord struct {
	Version int    `json:"v"`
	Epoch   uint64 `json:"epoch"`
	Holder  string `json:"holder"`
	Mark    string `json:"mark"`
}

func decodeSeal(data []byte) (s sealRecord, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%w: %w", errRecord, err)
	}
	if s.Version != 1 || s.Epoch == 0 {
		return s, errRecord
	}
	return s, nil
}
