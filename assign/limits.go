package assign

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/naming"
)

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
// of the kind, under every leader. A submission cannot change them: not that of an older program, a
// requeued one, or one by rolectl. The same declaration again changes nothing, and neither does one
// of a lower [LimitsVersion] than the stored one. It needs no leader.
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
