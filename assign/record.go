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

// Headers of the records at <namespace>.q.<task>. A submission has the first, JSON that is the same for all tasks that are
// submitted alike, and its input as data. An outcome has the second, and the output as data. The outcome of a task that is
// dead has both, and the input as data: it can be submitted again.
const (
	headerTask    = "Task"
	headerOutcome = "Task-Outcome"
	headerKeys    = "Task-Keys"    // JSON of keysRecord, when there are any
	headerMeta    = "Task-Meta"    // JSON of the submitter's own headers, when there are any
	headerFailure = "Task-Failure" // JSON of failureRecord, of an outcome that is no success
	headerObject  = "Task-Object"  // the output is in the object store, the data is JSON of objectRecord
	headerTrace   = "traceparent"
)

// Limits of what goes along with an input or an output, in bytes. Their sum is below headroom.
const (
	maxMeta       = 4 << 10
	maxCheckpoint = 16 << 10
	maxFailure    = 24 << 10
	headroom      = 64 << 10
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
	case p.Priority < -maxPriority || p.Priority > maxPriority:
		return fmt.Errorf("priority %d: use -100 to 100", p.Priority)
	case p.Weight < 0 || p.Weight > 4096:
		return fmt.Errorf("weight %d: use 1 to 4096", p.Weight)
	case p.Concurrency < 0 || p.KeyLimit < 0 || !(p.Rate >= 0) || p.Rate > 1e9:
		return fmt.Errorf("concurrency %d, key limit %d, rate %v: use positive ones, or 0 for none", p.Concurrency, p.KeyLimit, p.Rate)
	case len(p.Labels) > 32:
		return fmt.Errorf("%d labels: use 32 at most", len(p.Labels))
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
		Priority: p.Priority, Weight: max(p.Weight, 1), Labels: p.Labels, Concurrency: p.Concurrency, Rate: p.Rate,
		KeyLimit: max(p.KeyLimit, 1),
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
