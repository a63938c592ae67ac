package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Policy is how a task is treated, as the header of its submission has it.
type Policy struct {
	Version  int    `json:"v"`
	Kind     string `json:"kind"`
	Attempts int    `json:"attempts"`
	Timeout  int64  `json:"timeout_ms,omitempty"`
	Backoff  int64  `json:"backoff_ms"`
	MaxBack  int64  `json:"max_backoff_ms"`
	Delay    int64  `json:"delay_ms,omitempty"`
	// At is when the task is due, in ms since 1970, and comes before Delay. A scheduler that does not
	// know it goes by Delay, which is the same by the clock of the submitter.
	At        int64 `json:"at_ms,omitempty"`
	Deadline  int64 `json:"deadline_ms,omitempty"`
	Retention int64 `json:"retention_s"`
	// Dead is the retention of a dead task. The default, in the place of 0, is not written.
	Dead    int64 `json:"dead_retention_s,omitempty"`
	Crashes int   `json:"crash_budget,omitempty"` // 0: as the scheduler says

	Priority    int               `json:"priority,omitempty"`
	Weight      int               `json:"weight,omitempty"` // 0 is 1
	Labels      map[string]string `json:"labels,omitempty"`
	Concurrency int               `json:"concurrency,omitempty"`
	Rate        float64           `json:"rate,omitempty"`      // per second
	KeyLimit    int               `json:"key_limit,omitempty"` // 0 is 1

	// Limits is the version of the limits. It is not in the record of a submission.
	Limits int `json:"-"`

	// Shares are those of fair keys. They are in no submission: a declaration has them.
	Shares map[string]int `json:"-"`

	// Fair is the func(In) string that tells the fair key of an input, nil for none. It is not in the
	// record.
	Fair any `json:"-"`

	Faults []string `json:"-"` // of the options; not in the record
}

// Refuse notes that the value of an option is not valid. The policy stays as it was.
func (p *Policy) Refuse(option string, value any, fix string) {
	// Policies are copied: an append must not write into another policy's faults.
	p.Faults = append(slices.Clip(p.Faults), fmt.Sprintf("%s(%v): %s", option, value, fix))
}

// Bounded sets a field if the value lies within the bounds.
func Bounded[T cmp.Ordered](p *Policy, option string, field *T, n, least, most T) {
	if !(n >= least && n <= most) { // NaN is not
		p.Refuse(option, n, fmt.Sprintf("use %v to %v", least, most))
		return
	}
	*field = n
}

// Duration sets a field of milliseconds, rounded up, if d is positive, or 0 if the text zero says
// what 0 means.
func (p *Policy) Duration(option string, field *int64, d time.Duration, zero string) {
	switch {
	case d > MaxDuration, d < 0, d == 0 && zero == "":
		fix := fmt.Sprintf("use a positive duration of %d h (10 years) at most", MaxDuration/time.Hour)
		if zero != "" {
			fix += ", or 0 for " + zero
		}
		p.Refuse(option, d, fix)
	default:
		*field = Milliseconds(d)
	}
}

// latestAt is the last moment of the year 9999.
const latestAt = 253_402_300_799_999

// Start sets the time at which the task is due. It may be in the past.
func (p *Policy) Start(option string, t, now time.Time) {
	if t.UnixMilli() < 0 || t.Sub(now) > MaxDuration {
		p.Refuse(option, t.Format(time.RFC3339), "use a time from 1970 on, within the next 10 years")
		return
	}
	p.At, p.Delay = t.UnixMilli(), Milliseconds(max(t.Sub(now), 0))
}

// Milliseconds rounds up, so that a positive duration stays positive.
func Milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

const DefaultAttempts = 5

const DefaultBackoff = time.Second

const DefaultMaxBack = time.Hour

const DefaultRetention = time.Hour

// DefaultDead is how long a dead task is kept whose submission does not say so.
const DefaultDead = 30 * 24 * time.Hour

const MinRetention = time.Minute

const maxPriority = 100

const MaxAttempts = 10_000

const MaxCrashes = 999

const MaxWeight = 4096

const MaxLimit = 1_000_000_000 // of Concurrency and KeyLimit

const maxLabels = 32

const MinRate = 1.0 / 86_400 // one a day

const MaxRate = 1e9

func (p *Policy) Prioritize(option string, n int) {
	if n < -maxPriority || n > maxPriority {
		p.Refuse(option, n, fmt.Sprintf("use a priority of -%d to %[1]d", maxPriority))
		return
	}
	p.Priority = n
}

// Require sets the labels. The map must belong to the policy alone.
func (p *Policy) Require(option string, labels map[string]string) {
	if value, none := labels[""]; none {
		p.Refuse(option, fmt.Sprintf("%q: %q", "", value), "the name of a label is empty: name it")
		return
	}
	for name, value := range labels {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			p.Refuse(option, fmt.Sprintf("%q: %q", name, value), "use UTF-8, or an encoding such as base64")
			return
		}
	}
	if len(labels) > maxLabels {
		p.Refuse(option, fmt.Sprintf("%d labels", len(labels)), fmt.Sprintf("use %d at most", maxLabels))
		return
	}
	p.Labels = labels
}

// Limited reports whether a policy says anything about the limits of its kind.
func (p *Policy) Limited() bool {
	return p.Concurrency != 0 || p.Rate != 0 || p.KeyLimit != 0 || p.Limits != 0 || len(p.Shares) > 0
}
