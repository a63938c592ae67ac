package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Headers of the records at <namespace>.q.<task>. A submission has the first, JSON that is the same
// for all tasks that are submitted alike, and its input as data. An outcome has the second, and the
// output as data. The outcome of a dead task has both, and the input as data, so that the task can
// be submitted again.
const (
	HeaderTask    = "Task"
	HeaderOutcome = "Task-Outcome"
	HeaderKeys    = "Task-Keys"    // JSON of keysRecord, when there are any
	HeaderMeta    = "Task-Meta"    // JSON of the submitter's own headers, when there are any
	HeaderFailure = "Task-Failure" // JSON of failureRecord, of an outcome other than a success
	headerObject  = "Task-Object"  // the output is in the object store, the data is JSON of objectRecord
	HeaderTrace   = "traceparent"
)

// Limits of the parts that go along with an input or an output, in bytes. Their sum is below
// Headroom.
const (
	MaxMeta       = 4 << 10
	MaxCheckpoint = 16 << 10
	maxFailure    = 24 << 10
	Headroom      = 64 << 10
)

// MaxDuration bounds the durations in records: 10 years.
const MaxDuration = 10 * 365 * 24 * time.Hour

var ErrRecord = errors.New("not a record of version 1")

func (p Policy) check() error {
	for _, d := range []struct {
		name string
		n    int64
		unit time.Duration
	}{
		{"timeout", p.Timeout, time.Millisecond},
		{"backoff", p.Backoff, time.Millisecond},
		{"longest backoff", p.MaxBack, time.Millisecond},
		{"delay", p.Delay, time.Millisecond},
		{"deadline", p.Deadline, time.Millisecond},
		{"retention", p.Retention, time.Second},
	} {
		if d.n < 0 || d.n > int64(MaxDuration/d.unit) {
			return fmt.Errorf("%s of %d times %v: use 0 to 10 years", d.name, d.n, d.unit)
		}
	}
	switch {
	case !naming.Valid(p.Kind):
		return fmt.Errorf("%.220q cannot name a kind: use letters, digits, - _ = / and dots between them, 200 bytes at most", p.Kind)
	case p.Attempts < 1 || p.Attempts > MaxAttempts:
		return fmt.Errorf("%d attempts: use 1 to %d", p.Attempts, MaxAttempts)
	case p.Priority < -maxPriority || p.Priority > maxPriority:
		return fmt.Errorf("priority %d: use -%d to %[2]d", p.Priority, maxPriority)
	case p.Weight < 0 || p.Weight > MaxWeight:
		return fmt.Errorf("weight %d: use 1 to %d", p.Weight, MaxWeight)
	case p.Concurrency < 0:
		return fmt.Errorf("concurrency %d: use a positive one, or 0 for any number", p.Concurrency)
	case p.KeyLimit < 0:
		return fmt.Errorf("key limit %d: use a positive one, or 0 for 1", p.KeyLimit)
	case p.Rate != 0 && !(p.Rate >= MinRate && p.Rate <= MaxRate): // NaN is not either
		return fmt.Errorf("rate %v: use one a day (1.0/86400) to 1e9 per second, or 0 for any number", p.Rate)
	case len(p.Labels) > maxLabels:
		return fmt.Errorf("%d labels: use %d at most", len(p.Labels), maxLabels)
	case p.Backoff < 1 || p.MaxBack < p.Backoff:
		return fmt.Errorf("backoff %d ms up to %d ms: use a positive one, and no less at most", p.Backoff, p.MaxBack)
	}
	return nil
}

// ParsePolicy reads the header of a submission.
func ParsePolicy(header string) (p Policy, err error) {
	if err := json.Unmarshal([]byte(header), &p); err != nil {
		return Policy{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if p.Version != 1 {
		return Policy{}, ErrRecord
	}
	return p, p.check()
}

// Shared is the part of a policy that tasks of a kind share on the books. Times is the part that
// belongs to one task.
func (p *Policy) Shared() *tasks.Policy {
	return &tasks.Policy{
		Kind: p.Kind, MaxAttempts: p.Attempts, Timeout: ms(p.Timeout), Backoff: ms(p.Backoff), MaxBackoff: ms(p.MaxBack),
		Retention: max(time.Duration(p.Retention)*time.Second, MinRetention),
		Priority:  p.Priority, Weight: max(p.Weight, 1), Labels: p.Labels, Concurrency: p.Concurrency, Rate: p.Rate,
		KeyLimit: max(p.KeyLimit, 1),
	}
}

func (p *Policy) Times() tasks.Times {
	return tasks.Times{Delay: ms(p.Delay), Deadline: ms(p.Deadline)}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Note is the data of a note, <namespace>.t.<task>.
type Note struct {
	Version  int    `json:"v"`
	Epoch    uint64 `json:"epoch"`
	Attempt  uint32 `json:"attempt"`
	Failures int    `json:"failures,omitempty"`
	Crashes  int    `json:"crashes,omitempty"`
	Snoozes  int    `json:"snoozes,omitempty"`
	// Wait counts from when the note was stored.
	Wait int64 `json:"wait_ms,omitempty"`
	// StartedEpoch and Started name an attempt that was about to be handed to the scheduler's own
	// process.
	StartedEpoch uint64 `json:"started_epoch,omitempty"`
	Started      uint32 `json:"started,omitempty"`
}

func EncodeNote(r tasks.Retry) ([]byte, error) {
	return json.Marshal(Note{
		1, r.Attempt.Epoch, r.Attempt.N, r.Failures, r.Crashes, r.Snoozes, (r.Wait + time.Millisecond - 1).Milliseconds(),
		r.Started.Epoch, r.Started.N,
	})
}

func DecodeNote(data []byte) (tasks.Retry, error) {
	var n Note
	if err := json.Unmarshal(data, &n); err != nil {
		return tasks.Retry{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if n.Version != 1 || n.Wait < 0 || n.Wait > int64(1<<40) || n.Failures < 0 || n.Crashes < 0 || n.Snoozes < 0 {
		return tasks.Retry{}, ErrRecord
	}
	return tasks.Retry{
		Attempt:  tasks.Attempt{Epoch: n.Epoch, N: n.Attempt},
		Failures: n.Failures, Crashes: n.Crashes, Snoozes: n.Snoozes, Wait: time.Duration(n.Wait) * time.Millisecond,
		Started: tasks.Attempt{Epoch: n.StartedEpoch, N: n.Started},
	}, nil
}

// Seal is the data of the seal. Mark belongs to one term: it tells seals of ours whose
// acknowledgements were lost from those of others.
type Seal struct {
	Version int    `json:"v"`
	Epoch   uint64 `json:"epoch"`
	Holder  string `json:"holder"`
	Mark    string `json:"mark"`
	Clean   bool   `json:"clean,omitempty"` // the term has ended in peace
	// Since is the epoch with which the term began that ends with a Clean seal. Epoch is its last
	// epoch.
	Since uint64 `json:"since,omitempty"`
	// Suspect is the revision below which an open task may have made an earlier scheduler crash. 0
	// means that none may have.
	Suspect uint64 `json:"suspect,omitempty"`
}

func DecodeSeal(data []byte) (s Seal, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if s.Version != 1 || s.Epoch == 0 {
		return s, ErrRecord
	}
	return s, nil
}

// LaterVersion reports whether a record names a version that this program does not know.
func LaterVersion(data []byte) bool {
	var record struct {
		Version int `json:"v"`
	}
	return json.Unmarshal(data, &record) == nil && record.Version > 1
}
