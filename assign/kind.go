package assign

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// Kind is a type of task: its name, what goes in and what comes out, and how it is to be treated. The treatment travels
// with each submission, so a scheduler needs no kinds at all. In and Out are encoded as JSON, but for []byte, which is
// taken as it is.
type Kind[In, Out any] struct {
	name   string
	policy policy
	header string // the policy, encoded: most tasks are submitted as their kind says
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

// Priority is which tasks go first, -100 to 100 (0); a larger one does. One that waits goes ahead of those that come later:
// each step of priority is worth [Config].AgingStep of waiting.
func Priority(n int) KindOption { return func(p *policy) { p.Priority = n } }

// Weight is how many of a worker's slots a task takes (1).
func Weight(slots int) KindOption { return func(p *policy) { p.Weight = slots } }

// Labels are what a worker must have to be given a task: each of them, with this value. See [Config].Labels.
func Labels(labels map[string]string) KindOption {
	labels = maps.Clone(labels)
	return func(p *policy) { p.Labels = labels }
}

// Concurrency bounds how many tasks of the kind run at once, in all (0: any number). What the newest submission says counts.
func Concurrency(n int) KindOption { return func(p *policy) { p.Concurrency = n } }

// Rate bounds how many tasks of the kind are handed out per second (0: any number). What the newest submission says counts.
func Rate(perSecond float64) KindOption { return func(p *policy) { p.Rate = perSecond } }

// KeyLimit is how many tasks of one [WithLimitKey] run at once (1).
func KeyLimit(n int) KindOption { return func(p *policy) { p.KeyLimit = n } }

func atLeastOne(d time.Duration) int64 { return max(d.Milliseconds(), 1) }

// NewKind makes a kind. It panics where [MakeKind] returns an error: kinds are made when a program starts.
func NewKind[In, Out any](name string, opts ...KindOption) Kind[In, Out] {
	k, err := MakeKind[In, Out](name, opts...)
	if err != nil {
		panic(err.Error())
	}
	return k
}

// MakeKind makes a kind whose name is known only at run time. Errors: ErrInvalidKind when name cannot name one (letters,
// digits, - _ = / and dots between them, at most 200 bytes), or an option says what cannot be.
func MakeKind[In, Out any](name string, opts ...KindOption) (Kind[In, Out], error) {
	p := policy{
		Version: 1, Kind: name, Attempts: defaultAttempts, Backoff: defaultBackoff.Milliseconds(), MaxBack: defaultMaxBack.Milliseconds(),
		Retention: int64(defaultRetention / time.Second),
	}
	for _, o := range opts {
		o(&p)
	}
	header, err := p.encode()
	if err != nil {
		return Kind[In, Out]{}, fmt.Errorf("%w: %w", ErrInvalidKind, err)
	}
	return Kind[In, Out]{name: name, policy: p, header: header}, nil
}

// maxPolicy bounds what a submission says of its treatment, in bytes.
const maxPolicy = 8 << 10

// encode checks a policy and makes the header of it.
func (p policy) encode() (string, error) {
	if err := p.check(); err != nil {
		return "", err
	}
	data, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	if len(data) > maxPolicy {
		return "", fmt.Errorf("labels of %d bytes: use less than %d", len(data), maxPolicy)
	}
	return string(data), nil
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
