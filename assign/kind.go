package assign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

	faults []string // of the options; not in the record
}

// refuse notes that an option says what cannot be; the policy stays as it was.
func (p *policy) refuse(option string, value any, fix string) {
	// Policies are copied: what is appended must not be another one's.
	p.faults = append(slices.Clip(p.faults), fmt.Sprintf("%s(%v): %s", option, value, fix))
}

// bounded sets a field if the value lies in the bounds.
func bounded[T cmp.Ordered](p *policy, option string, field *T, n, least, most T) {
	if !(n >= least && n <= most) { // NaN is not
		p.refuse(option, n, fmt.Sprintf("use %v to %v", least, most))
		return
	}
	*field = n
}

// duration sets a field of milliseconds, rounded up, if d is positive, or 0 where zero says what 0 means.
func (p *policy) duration(option string, field *int64, d time.Duration, zero string) {
	switch {
	case d > maxDuration, d < 0, d == 0 && zero == "":
		fix := fmt.Sprintf("use a positive duration of %d h (10 years) at most", maxDuration/time.Hour)
		if zero != "" {
			fix += ", or 0 for " + zero
		}
		p.refuse(option, d, fix)
	default:
		*field = milliseconds(d)
	}
}

// milliseconds rounds up: what is positive stays so.
func milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

const (
	defaultAttempts  = 5
	defaultBackoff   = time.Second
	defaultMaxBack   = time.Hour
	defaultRetention = time.Hour
	minRetention     = time.Minute
	maxPriority      = 100
	maxAttempts      = 10_000
	maxWeight        = 4096
	maxLimit         = 1_000_000_000 // of Concurrency and KeyLimit
	maxLabels        = 32
	minRate          = 1.0 / 86_400 // one a day
	maxRate          = 1e9
)

// KindOption says how tasks of a kind are to be treated. What cannot be is refused where the options are used: by MakeKind
// with ErrInvalidKind, by Submit and Recur with ErrInvalidOption.
type KindOption func(*policy)

// MaxAttempts is how many attempts may fail until the task is dead, 1 to 10,000 (5). Attempts that were lost with their worker
// do not count: they have a budget of their own, [Config].CrashBudget.
func MaxAttempts(n int) KindOption {
	return func(p *policy) { bounded(p, "MaxAttempts", &p.Attempts, n, 1, maxAttempts) }
}

// Timeout bounds one attempt (0: no bound): then its context ends, with cause [ErrTimeout], and the attempt has failed unless its
// handler returns without an error all the same. A handler that does not heed its context keeps its slot, and its task, for as
// long as it runs, or until the task's deadline.
func Timeout(d time.Duration) KindOption {
	return func(p *policy) { p.duration("Timeout", &p.Timeout, d, "no bound") }
}

// Backoff is the wait before the second attempt, doubled for each further one up to most, ±10 % (1 s, 1 h).
func Backoff(first, most time.Duration) KindOption {
	return func(p *policy) {
		if first <= 0 || most < first || most > maxDuration {
			p.refuse("Backoff", fmt.Sprintf("%v, %v", first, most), "use a positive wait first, and one most that is no shorter, of 10 years at most")
			return
		}
		p.Backoff, p.MaxBack = milliseconds(first), milliseconds(most)
	}
}

// Retention is how long an outcome is kept: for so long it can be read, and the task's id cannot be used again (1 h), 1 min
// to 10 years, in whole seconds.
func Retention(d time.Duration) KindOption {
	return func(p *policy) {
		if d < minRetention || d > maxDuration {
			p.refuse("Retention", d, fmt.Sprintf("use %v to %d h (10 years)", minRetention, maxDuration/time.Hour))
			return
		}
		p.Retention = int64(d / time.Second)
	}
}

// Priority is which tasks go first, -100 to 100 (0); a larger one does. One that waits goes ahead of those that come later:
// each step of priority is worth [Config].AgingStep of waiting.
func Priority(n int) KindOption { return func(p *policy) { p.prioritize("Priority", n) } }

func (p *policy) prioritize(option string, n int) {
	if n < -maxPriority || n > maxPriority {
		p.refuse(option, n, fmt.Sprintf("use a priority of -%d to %[1]d", maxPriority))
		return
	}
	p.Priority = n
}

// Weight is how many of a worker's slots a task takes, 1 to 4096 (1).
func Weight(slots int) KindOption {
	return func(p *policy) { bounded(p, "Weight", &p.Weight, slots, 1, maxWeight) }
}

// Labels are what a worker must have to be given a task: each of them, with this value. See [Config].Labels.
func Labels(labels map[string]string) KindOption {
	labels = maps.Clone(labels)
	return func(p *policy) { p.require("Labels", labels) }
}

// require makes these the labels, which are nobody else's.
func (p *policy) require(option string, labels map[string]string) {
	if value, none := labels[""]; none {
		p.refuse(option, fmt.Sprintf("%q: %q", "", value), "the name of a label is empty: name it")
		return
	}
	if len(labels) > maxLabels {
		p.refuse(option, fmt.Sprintf("%d labels", len(labels)), fmt.Sprintf("use %d at most", maxLabels))
		return
	}
	p.Labels = labels
}

// Concurrency bounds how many tasks of the kind run at once, in all (0: any number). What the newest submission says counts.
func Concurrency(n int) KindOption {
	return func(p *policy) { bounded(p, "Concurrency", &p.Concurrency, n, 0, maxLimit) }
}

// Rate bounds how many tasks of the kind are handed out per second (0: any number), from one a day to 1e9. What the newest
// submission says counts.
func Rate(perSecond float64) KindOption {
	return func(p *policy) {
		if perSecond != 0 && !(perSecond >= minRate && perSecond <= maxRate) { // NaN is not either
			p.refuse("Rate", perSecond, "use 1.0/86400 (one a day) to 1e9 per second, or 0 for any number")
			return
		}
		p.Rate = perSecond
	}
}

// KeyLimit is how many tasks of one [WithLimitKey] run at once (1).
func KeyLimit(n int) KindOption {
	return func(p *policy) { bounded(p, "KeyLimit", &p.KeyLimit, n, 1, maxLimit) }
}

// apply has the policy treated by options.
func (p *policy) apply(in string, opts []KindOption) {
	for i, o := range opts {
		if o == nil {
			p.refuse(in, fmt.Sprintf("option %d", i), "it is nil: leave it out")
			continue
		}
		o(p)
	}
}

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
	p.apply("MakeKind", opts)
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
	if len(p.faults) > 0 {
		return "", errors.New(strings.Join(p.faults, "; ")) // one line, whatever their number
	}
	if err := p.check(); err != nil {
		return "", err
	}
	if p.Deadline > 0 && p.Delay >= p.Deadline {
		return "", fmt.Errorf("WithDelay(%v) is not shorter than WithDeadline(%v): the task would expire before it is due; both count from the submission: use a longer deadline",
			time.Duration(p.Delay)*time.Millisecond, time.Duration(p.Deadline)*time.Millisecond)
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
