package assign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/naming"
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

// KindLimits are the limits of a kind: those that count, and where they come from.
type KindLimits struct {
	Kind string `json:"kind"`
	// Concurrency, Rate and KeyLimit count now, 0 for any number. One that is nil is neither declared
	// nor overridden: the newest submission says it, and each submission its KeyLimit.
	Concurrency *int     `json:"concurrency,omitempty"`
	Rate        *float64 `json:"rate,omitempty"`
	KeyLimit    *int     `json:"key_limit,omitempty"`
	// Shares are those of [FairShares] that count now, nil for none: 1 for each key.
	Shares map[string]int `json:"fair_shares,omitempty"`
	// Declared is what the programs of the kind say, nil for nothing.
	Declared *DeclaredLimits `json:"declared,omitempty"`
	// Override is what counts instead, nil for nothing.
	Override *LimitsOverride `json:"override,omitempty"`
}

// DeclaredLimits are what a program has declared for its kind, see [Declare].
type DeclaredLimits struct {
	Version     int     `json:"version"`
	By          string  `json:"by,omitempty"` // the name of its connection
	Concurrency int     `json:"concurrency"`
	Rate        float64 `json:"rate"`
	KeyLimit    int     `json:"key_limit"`
	MaxAttempts int     `json:"max_attempts"`

	Shares map[string]int `json:"fair_shares,omitempty"`
}

// LimitsOverride replaces declared limits. A limit that is nil stays as it was declared.
type LimitsOverride struct {
	Concurrency *int     `json:"concurrency,omitempty"`
	Rate        *float64 `json:"rate,omitempty"`
	KeyLimit    *int     `json:"key_limit,omitempty"`
	// Shares replace all those of [FairShares] that are declared: an empty map gives each key one.
	Shares map[string]int `json:"fair_shares,omitzero"`
	// Until ends the override, by the stream's clock. Zero: it counts until RestoreLimits.
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"` // for people
	By     string    `json:"by,omitempty"`     // the name of the connection, which OverrideLimits sets
}

// Declare stores the limits and the options of a kind. A program that owns the kind does so when it
// starts. From then on the declared Concurrency, Rate, KeyLimit and FairShares count for all tasks
// of the kind, under every leader, whatever a submission says: also one of an older program, one
// that is requeued, or one by rolectl. The same declaration again changes nothing, and neither does
// one of a lower [LimitsVersion] than the stored one. It needs no leader.
//
// Errors: ErrLimitsDiffer if another program has declared other limits or options under the same
// version, which then stay; ErrClosed, permanent faults of the connection, ctx's: then it may be
// stored or not.
func Declare[In, Out any](ctx context.Context, in Submitter, k Kind[In, Out]) error {
	if k.name == "" {
		return fmt.Errorf("%w: it has no name: use NewKind or MakeKind", ErrInvalidKind)
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return err
	}
	return c.Declare(ctx, &k.policy)
}

// GetLimits reads the limits of a kind. It needs no leader. Errors: ErrInvalidName, ErrClosed,
// permanent faults of the connection, ctx's.
func GetLimits(ctx context.Context, in Submitter, kind string) (KindLimits, error) {
	if !naming.Valid(kind) {
		return KindLimits{}, fmt.Errorf("%w: limits %q", ErrInvalidName, kind)
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return KindLimits{}, err
	}
	k, err := c.Limits(ctx, kind)
	if err != nil {
		return KindLimits{}, err
	}
	out := KindLimits{Kind: kind}
	if d := k.Declared; d != nil {
		p := d.Policy
		p.KeyLimit = max(p.KeyLimit, 1)
		out.Declared = &DeclaredLimits{d.Version, d.By, p.Concurrency, p.Rate, p.KeyLimit, p.Attempts, p.Shares}
		out.Concurrency, out.Rate, out.KeyLimit, out.Shares = &p.Concurrency, &p.Rate, &p.KeyLimit, p.Shares
	}
	if o := k.Override; o != nil && (o.Until.IsZero() || time.Now().Before(o.Until)) {
		out.Override = &LimitsOverride{o.Concurrency, o.Rate, o.KeyLimit, o.Shares, o.Until, o.Reason, o.By}
		out.Concurrency = cmp.Or(o.Concurrency, out.Concurrency)
		out.Rate, out.KeyLimit = cmp.Or(o.Rate, out.Rate), cmp.Or(o.KeyLimit, out.KeyLimit)
		if o.Shares != nil {
			out.Shares = o.Shares
		}
	}
	return out, nil
}

// OverrideLimits puts limits in the place of those that a kind's programs declare, until o.Until or
// [RestoreLimits]. It is stored, needs no leader, and outlives every leader. Errors:
// ErrInvalidName, ErrInvalidOption for a limit or a reason that is not valid, ErrClosed, permanent
// faults of the connection, ctx's: then it may be stored or not.
func OverrideLimits(ctx context.Context, in Submitter, kind string, o LimitsOverride) error {
	return override(ctx, in, kind, &record.Override{
		Reason: o.Reason, Until: o.Until.UTC(), Concurrency: o.Concurrency, Rate: o.Rate, KeyLimit: o.KeyLimit,
		Shares: o.Shares,
	})
}

// RestoreLimits ends [OverrideLimits]. It returns nil if there was none. Errors are those of
// OverrideLimits.
func RestoreLimits(ctx context.Context, in Submitter, kind string) error {
	return override(ctx, in, kind, nil)
}

func override(ctx context.Context, in Submitter, kind string, o *record.Override) error {
	if !naming.Valid(kind) {
		return fmt.Errorf("%w: limits %q", ErrInvalidName, kind)
	}
	if o != nil {
		if _, err := (&record.KindLimits{Version: 1, Override: o}).Encode(); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidOption, err)
		}
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return err
	}
	return c.Override(ctx, kind, o)
}

// DeclaredKind makes a kind as its programs have declared it, for a program that submits tasks of a
// kind that it does not define. opts change it. Without a declaration the kind has the defaults.
// Errors: those of [MakeKind] and [GetLimits].
func DeclaredKind[In, Out any](
	ctx context.Context, in Submitter, name string, opts ...KindOption,
) (Kind[In, Out], error) {
	k, err := MakeKind[In, Out](name)
	if err != nil {
		return k, err
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return Kind[In, Out]{}, err
	}
	limits, err := c.Limits(ctx, name)
	if err != nil {
		return Kind[In, Out]{}, err
	}
	d := limits.Declared
	if d == nil {
		return MakeKind[In, Out](name, opts...)
	}
	p := d.Policy
	p.Shares = nil // for which the kind needs no FairBy
	k, err = MakeKind[In, Out](name, append([]KindOption{func(to *record.Policy) { *to = p }}, opts...)...)
	if err == nil && k.policy.Shares == nil {
		k.policy.Shares = d.Policy.Shares
	}
	return k, err
}
