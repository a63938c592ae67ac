package assign

import (
	"encoding/json"
	"fmt"
	"time"
)

// Kind is a type of task: its name, what goes in and what comes out, and how it is to be treated. The treatment travels
// with each submission, so a scheduler needs no kinds at all. In and Out are encoded as JSON, but for []byte, which is
// taken as it is.
type Kind[In, Out any] struct {
	name   string
	policy policy
}

// policy is how a task is to be treated, as it stands in the header of its submission.
type policy struct {
	Version   int    `json:"v"`
	Kind      string `json:"kind"`
	Attempts  int    `json:"attempts"`
	Timeout   int64  `json:"timeout_ms,omitempty"`
	Backoff   int64  `json:"backoff_ms"`
	MaxBack   int64  `json:"max_backoff_ms"`
	Delay     int64  `json:"delay_ms,omitempty"`
	Deadline  int64  `json:"deadline_ms,omitempty"`
	Retention int64  `json:"retention_s"`

	Priority    int               `json:"priority,omitempty"`
	Weight      int               `json:"weight,omitempty"` // 0 is 1
	Labels      map[string]string `json:"labels,omitempty"`
	Concurrency int               `json:"concurrency,omitempty"`
	Rate        float64           `json:"rate,omitempty"`      // per second
	KeyLimit    int               `json:"key_limit,omitempty"` // 0 is 1
}

const (
	defaultAttempts  = 5
	defaultBackoff   = time.Second
	defaultMaxBack   = time.Hour
	defaultRetention = time.Hour
	minRetention     = time.Minute
	maxPriority      = 100
)

// KindOption says how tasks of a kind are to be treated.
type KindOption func(*policy)

// MaxAttempts is how many attempts may fail until the task is dead (5).
func MaxAttempts(n int) KindOption { return func(p *policy) { p.Attempts = n } }

// Timeout bounds one attempt (none): then its context ends, with cause [ErrTimeout].
func Timeout(d time.Duration) KindOption { return func(p *policy) { p.Timeout = atLeastOne(d) } }

// Backoff is the wait before the second attempt, doubled for each further one up to most, ±10 % (1 s, 1 h).
func Backoff(first, most time.Duration) KindOption {
	return func(p *policy) { p.Backoff, p.MaxBack = atLeastOne(first), atLeastOne(max(first, most)) }
}

// Retention is how long an outcome is kept: for so long it can be read, and the task's id cannot be used again (1 h, at
// least 1 min).
func Retention(d time.Duration) KindOption {
	return func(p *policy) { p.Retention = int64(max(d, minRetention) / time.Second) }
}

func atLeastOne(d time.Duration) int64 { return max(d.Milliseconds(), 1) }

// NewKind makes a kind. It panics when name cannot name one (letters, digits, - _ = / and dots between them, at most 200
// bytes) or MaxAttempts is not positive: kinds are made when a program starts.
func NewKind[In, Out any](name string, opts ...KindOption) Kind[In, Out] {
	p := policy{
		Version: 1, Kind: name, Attempts: defaultAttempts, Backoff: defaultBackoff.Milliseconds(), MaxBack: defaultMaxBack.Milliseconds(),
		Retention: int64(defaultRetention / time.Second),
	}
	for _, o := range opts {
		o(&p)
	}
	if err := p.check(); err != nil {
		panic("assign: NewKind: " + err.Error())
	}
	return Kind[In, Out]{name: name, policy: p}
}

// Name is the kind's name.
func (k Kind[In, Out]) Name() string { return k.name }

func encode(v any) ([]byte, error) {
	if raw, ok := v.([]byte); ok {
		return raw, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return data, nil
}

func decode[T any](data []byte) (v T, err error) {
	if raw, ok := any(&v).(*[]byte); ok {
		*raw = data
		return v, nil
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("decode %T: %w", v, err)
	}
	return v, nil
}
