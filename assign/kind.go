package assign

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// Kind is a type of task: its name, the types of its input and output, and how its tasks are
// treated. The treatment travels with each submission, so a scheduler needs no kinds. In and Out
// are encoded as JSON. []byte is an exception, and is taken as it is; a []byte in a Kind of any is
// refused.
type Kind[In, Out any] struct {
	name   string
	policy record.Policy
	header string // the policy, encoded: most tasks are submitted as their kind says
}

// KindOption says how tasks of a kind are treated. An option that is not valid is refused by the
// call that uses it: by MakeKind with ErrInvalidKind, by Submit and Recur with ErrInvalidOption.
type KindOption func(*record.Policy)

// MaxAttempts is how many attempts may fail until the task is dead. Default 5, minimum 1, maximum
// 10,000. Attempts that were lost with their worker do not count: they have a budget of their own,
// [CrashBudget].
func MaxAttempts(n int) KindOption {
	return func(p *record.Policy) { record.Bounded(p, "MaxAttempts", &p.Attempts, n, 1, record.MaxAttempts) }
}

// CrashBudget is how many lost workers a task may be blamed for: with the last of them it is dead.
// Minimum 1, maximum 999. Default: [Config].CrashBudget of the process that leads, which is 3.
//
// After the loss of a worker the tasks that ran on it are suspects. They are tried in two groups
// apart from each other, and a group whose worker is lost again is parted again. A loss is blamed
// on a task that was the only suspect of its worker. The last one ends it only if nothing else ran
// there, so a task is never dead for what another one has done.
func CrashBudget(n int) KindOption {
	return func(p *record.Policy) { record.Bounded(p, "CrashBudget", &p.Crashes, n, 1, record.MaxCrashes) }
}

// Timeout bounds one attempt. Default 0: no bound. At the end its context ends with the cause
// [ErrTimeout], and the attempt has failed unless its handler still returns without an error. A
// handler that ignores its context keeps its slot and its task for as long as it runs, or until the
// task's deadline.
func Timeout(d time.Duration) KindOption {
	return func(p *record.Policy) { p.Duration("Timeout", &p.Timeout, d, "no bound") }
}

// Backoff is the wait before the second attempt. It doubles for each further attempt up to most,
// and varies by ±10 %. Default 1 s, up to 1 h.
func Backoff(first, most time.Duration) KindOption {
	return func(p *record.Policy) {
		if first <= 0 || most < first || most > record.MaxDuration {
			p.Refuse("Backoff", fmt.Sprintf("%v, %v", first, most),
				"use a positive wait first, and one most that is not shorter, of 10 years at most")
			return
		}
		p.Backoff, p.MaxBack = record.Milliseconds(first), record.Milliseconds(most)
	}
}

// Retention is how long an outcome is kept, but for that of a dead task, see [DeadRetention]. For
// that time the outcome can be read, and the task's id cannot be used again. Default 1 h, minimum
// 1 min, maximum 10 years, in whole seconds.
func Retention(d time.Duration) KindOption {
	return func(p *record.Policy) {
		if d < record.MinRetention || d > record.MaxDuration {
			p.Refuse("Retention", d, fmt.Sprintf("use %v to %d h (10 years)", record.MinRetention, record.MaxDuration/time.Hour))
			return
		}
		p.Retention = int64(d / time.Second)
	}
}

// DeadRetention is how long a dead task is kept, with its input, so that people can read what was
// wrong with it and requeue it. Default 30 days, or [Retention] if that is longer; minimum 1 min,
// maximum 10 years, in whole seconds. The id of a dead task is not free for that time: [Requeue] or
// [Delete] the task.
func DeadRetention(d time.Duration) KindOption {
	return func(p *record.Policy) {
		if d < record.MinRetention || d > record.MaxDuration {
			p.Refuse("DeadRetention", d,
				fmt.Sprintf("use %v to %d h (10 years)", record.MinRetention, record.MaxDuration/time.Hour))
			return
		}
		p.Dead = int64(d / time.Second)
	}
}

// Priority says which tasks go first: those with the larger number. Default 0, minimum -100,
// maximum 100. A task that has waited for long enough goes before later ones of higher priority:
// each step of priority is worth [Config].AgingStep of waiting.
func Priority(n int) KindOption { return func(p *record.Policy) { p.Prioritize("Priority", n) } }

// Slots is how many of a worker's slots a task takes. Default 1, minimum 1, maximum 4096.
func Slots(slots int) KindOption {
	return func(p *record.Policy) { record.Bounded(p, "Slots", &p.Weight, slots, 1, record.MaxWeight) }
}

// Labels are the labels that a worker must have, each with this value, to be given a task. See
// [Config].Labels.
func Labels(labels map[string]string) KindOption {
	labels = maps.Clone(labels)
	return func(p *record.Policy) { p.Require("Labels", labels) }
}

// LimitsVersion is the version of the kind's limits and options, as [Declare] stores them. Raise it
// when you change one: a lower version never replaces a higher one, and of two declarations with
// one version the first stays, with ErrLimitsDiffer for the other. Default 0, maximum 1e9.
func LimitsVersion(n int) KindOption {
	return func(p *record.Policy) { record.Bounded(p, "LimitsVersion", &p.Limits, n, 0, record.MaxLimit) }
}

// Concurrency bounds how many tasks of the kind run at once, on all workers together. Default 0:
// any number. The value that a program has declared counts, see [Declare]; as long as none has,
// that of the newest submission.
func Concurrency(n int) KindOption {
	return func(p *record.Policy) { record.Bounded(p, "Concurrency", &p.Concurrency, n, 0, record.MaxLimit) }
}

// Rate bounds how many tasks of the kind are handed out per second. Default 0: any number. Minimum
// one a day, maximum 1e9. See [Concurrency] on whose value counts.
func Rate(perSecond float64) KindOption {
	return func(p *record.Policy) {
		if perSecond != 0 && !(perSecond >= record.MinRate && perSecond <= record.MaxRate) { // NaN is not either
			p.Refuse("Rate", perSecond, "use 1.0/86400 (one a day) to 1e9 per second, or 0 for any number")
			return
		}
		p.Rate = perSecond
	}
}

// KeyLimit is how many tasks of one [WithLimitKey] run at once. Default 1. See [Concurrency] on
// whose value counts.
func KeyLimit(n int) KindOption {
	return func(p *record.Policy) { record.Bounded(p, "KeyLimit", &p.KeyLimit, n, 1, record.MaxLimit) }
}

// FairBy has the keys of a kind take turns: tenants, users, or anything else that key finds in
// an input.
// While tasks of n keys wait, the first task of each starts within 2n tasks of the kind, however
// many tasks the others have waiting. Among the tasks of one key priority and age decide. Tasks
// with the key "" take turns as one. A key whose tasks cannot go at present passes its turn, for
// instance because of a [WithLimitKey] or of labels that no worker has. Keys whose tasks share a
// limit key take turns at it too. A key is UTF-8 of at most 200 bytes.
//
// How kinds share the workers does not change: the oldest task that waits decides among them, see
// [Priority]. In is the input of the kind, else MakeKind returns ErrInvalidKind. The key of a
// recurrence is that of its input.
func FairBy[In any](key func(In) string) KindOption {
	return func(p *record.Policy) {
		if key == nil {
			p.Refuse("FairBy", "nil", "leave it out")
			return
		}
		p.Fair = key
	}
}

// FairShares has some keys of [FairBy] go several times before it is the turn of the next: a key
// with a share of n goes n times. A key that is not there has a share of 1. While the keys whose
// tasks wait have shares of n together, the first task of each starts within 2n tasks of the kind.
// A key whose tasks cannot go at present keeps what is left of its turn; one that has no more tasks
// waiting loses it.
//
// [Declare] stores the shares with the limits of the kind, and they count from then on; submissions
// do not have them. A share is 1 to 1,000, and all of them take 8 KiB in JSON at most. The kind
// needs FairBy, else MakeKind returns ErrInvalidKind.
func FairShares(shares map[string]int) KindOption {
	shares = maps.Clone(shares)
	return func(p *record.Policy) {
		if fault := record.CheckShares(shares); fault != "" {
			p.Refuse("FairShares", fmt.Sprintf("%d keys", len(shares)), fault)
			return
		}
		p.Shares = shares
	}
}

// treat applies options to a policy.
func treat(p *record.Policy, in string, opts []KindOption) {
	for i, o := range opts {
		if o == nil {
			p.Refuse(in, fmt.Sprintf("option %d", i), "it is nil: leave it out")
			continue
		}
		o(p)
	}
}

// NewKind makes a kind. It panics where [MakeKind] returns an error, because kinds are made when a
// program starts; the panic says which name or option is not valid.
func NewKind[In, Out any](name string, opts ...KindOption) Kind[In, Out] {
	k, err := MakeKind[In, Out](name, opts...)
	if err != nil {
		panic(err.Error())
	}
	return k
}

// MakeKind makes a kind whose name is known only at run time. Errors: ErrInvalidKind if the name or
// an option is not valid, or if JSON cannot be decoded into In or Out, such as an interface with
// methods. A name has letters, digits, - _ = / and dots between them, at most 200
// bytes.
func MakeKind[In, Out any](name string, opts ...KindOption) (Kind[In, Out], error) {
	p := record.Policy{
		Version: 1, Kind: name, Attempts: record.DefaultAttempts, Backoff: record.DefaultBackoff.Milliseconds(),
		MaxBack:   record.DefaultMaxBack.Milliseconds(),
		Retention: int64(record.DefaultRetention / time.Second),
	}
	treat(&p, "MakeKind", opts)
	if len(p.Shares) > 0 && p.Fair == nil {
		p.Refuse("FairShares", p.Shares, "use it with FairBy, which says what the key of a task is")
	}
	if _, err := fairKey[In](&p); err != nil {
		return Kind[In, Out]{}, fmt.Errorf("%w: %w", ErrInvalidKind, err)
	}
	header, err := p.Encode()
	if err == nil {
		err = errors.Join(checkType("input", reflect.TypeFor[In]()), checkType("output", reflect.TypeFor[Out]()))
	}
	if err != nil {
		return Kind[In, Out]{}, fmt.Errorf("%w: %w", ErrInvalidKind, err)
	}
	return Kind[In, Out]{name: name, policy: p, header: header}, nil
}

// Name is the kind's name.
func (k Kind[In, Out]) Name() string { return k.name }

// fairKey is what FairBy has given, nil for nothing.
func fairKey[In any](p *record.Policy) (func(In) string, error) {
	if p.Fair == nil {
		return nil, nil
	}
	key, ok := p.Fair.(func(In) string)
	if !ok {
		return nil, fmt.Errorf("FairBy has a %T: use a func(%v) string, for the input of the kind", p.Fair,
			reflect.TypeFor[In]())
	}
	return key, nil
}
