package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// MaxPolicy bounds the encoded policy of a submission, in bytes.
const MaxPolicy = 8 << 10

// Encode checks a policy and makes its header.
func (p Policy) Encode() (string, error) {
	if len(p.Faults) > 0 {
		return "", errors.New(strings.Join(p.Faults, "; ")) // one line, whatever their number
	}
	if err := p.check(); err != nil {
		return "", err
	}
	if p.Deadline > 0 && p.Delay >= p.Deadline {
		option := "WithDelay"
		if p.At > 0 {
			option = "At, a delay of "
		}
		return "", fmt.Errorf(
			"%s(%v) is not shorter than WithDeadline(%v): the task would expire before it is due; both count from the "+
				"submission: use a longer deadline",
			option, ms(p.Delay), ms(p.Deadline))
	}
	data, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	if len(data) > MaxPolicy {
		return "", fmt.Errorf("labels of %d bytes: use less than %d", len(data), MaxPolicy)
	}
	return string(data), nil
}

// ReadPolicy is ParsePolicy for a header of any size.
func ReadPolicy(header string) (Policy, error) {
	if len(header) > 2*MaxPolicy {
		return Policy{}, fmt.Errorf("a policy of %d bytes", len(header))
	}
	return ParsePolicy(header)
}

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
		{"retention of a dead task", p.Dead, time.Second},
	} {
		if d.n < 0 || d.n > int64(MaxDuration/d.unit) {
			return fmt.Errorf("%s of %d times %v: use 0 to 10 years", d.name, d.n, d.unit)
		}
	}
	switch {
	case p.At < 0 || p.At > latestAt:
		return fmt.Errorf("due %d ms after 1970: use a time until the year 9999", p.At)
	case !naming.Valid(p.Kind):
		return fmt.Errorf("%.220q cannot name a kind: use letters, digits, - _ = / and dots between them, 200 bytes at most",
			p.Kind)
	case p.Attempts < 1 || p.Attempts > MaxAttempts:
		return fmt.Errorf("%d attempts: use 1 to %d", p.Attempts, MaxAttempts)
	case p.Crashes < 0 || p.Crashes > MaxCrashes:
		return fmt.Errorf("crash budget %d: use 1 to %d, or 0 for the scheduler's", p.Crashes, MaxCrashes)
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
	if p.Version != 1 && p.Version != PolicyAfter {
		return Policy{}, ErrRecord
	}
	return p, p.check()
}

// Shared is the part of a policy that tasks of a kind share in the state. Times is the part that
// belongs to one task.
func (p *Policy) Shared() *tasks.Policy {
	return &tasks.Policy{
		Kind: p.Kind, MaxAttempts: p.Attempts, CrashBudget: p.Crashes, Timeout: ms(p.Timeout),
		Backoff: ms(p.Backoff), MaxBackoff: ms(p.MaxBack),
		Retention: max(time.Duration(p.Retention)*time.Second, MinRetention), Dead: p.keepsDead(),
		Priority: p.Priority, Weight: max(p.Weight, 1), Labels: p.Labels, Concurrency: p.Concurrency, Rate: p.Rate,
		KeyLimit: max(p.KeyLimit, 1),
	}
}

// keepsDead is how long a dead task is kept: as long as others at least.
func (p *Policy) keepsDead() time.Duration {
	if p.Dead == 0 {
		return max(DefaultDead, time.Duration(p.Retention)*time.Second)
	}
	return max(time.Duration(p.Dead)*time.Second, MinRetention)
}

func (p *Policy) Times() tasks.Times {
	t := tasks.Times{Delay: ms(p.Delay), Deadline: ms(p.Deadline)}
	if p.At > 0 {
		t.At = time.UnixMilli(p.At)
	}
	return t
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
