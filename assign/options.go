package assign

import (
	"fmt"
	"maps"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// SubmitOption changes how one task is treated.
type SubmitOption func(*submission)

// submission is a task that is about to be submitted, with the effect of its options.
type submission struct {
	client.Submission
	each func(i int) []SubmitOption // of a batch
}

// submission begins a submission that is treated as the kind says.
func (k Kind[In, Out]) submission() submission {
	return submission{Submission: client.Submission{Kind: k.name, Policy: k.policy, Header: k.header}}
}

// apply applies options to the submission.
func (s *submission) apply(opts []SubmitOption) {
	for i, o := range opts {
		if o == nil {
			s.Refuse("option %d is nil: leave it out", i)
			continue
		}
		o(s)
	}
}

// WithID names the task. If a task of that name was submitted before and its outcome is still kept,
// that task is returned instead, even if its input was another one. If it is of another kind, the
// error is ErrOtherKind. Names that begin with "cron/" are for the tasks of recurrences, and those
// that begin with "group/" for groups. Without WithID each task gets a new id.
func WithID(id string) SubmitOption {
	return func(s *submission) {
		s.ID = id
		if id == "" && s.Fault == nil { // an empty variable: it would be another task each time
			s.Fault = fmt.Errorf("%w: it is empty: leave WithID out for one that is made", ErrInvalidID)
		}
	}
}

// WithUnique submits the task only if no task of its kind with this key is open. Otherwise the open
// task is returned, see [Pending.Existing]. The key is free again when its task has ended.
func WithUnique(key string) SubmitOption {
	return func(s *submission) { s.Unique = s.CheckKey("WithUnique", key) }
}

// WithDelay makes the task due that long after its submission, which must be before its deadline.
// Default 0: at once.
func WithDelay(d time.Duration) SubmitOption {
	return func(s *submission) {
		p := s.Edit()
		p.At = 0
		p.Duration("WithDelay", &p.Delay, d, "no delay")
	}
}

// At makes the task due at a time, by the clock of the NATS server: so a wrong clock of the
// submitter or of the scheduler changes nothing. A time in the past is at once. The time is within
// the next 10 years, and before the deadline of the task. At and [WithDelay] replace each other:
// the last one counts.
func At(t time.Time) SubmitOption {
	return func(s *submission) { s.Edit().Start("At", t, time.Now()) }
}

// WithDeadline ends the task that long after its submission: it expires, whether it runs or waits.
// The deadline must be longer than the delay.
func WithDeadline(d time.Duration) SubmitOption {
	return func(s *submission) {
		p := s.Edit()
		p.Duration("WithDeadline", &p.Deadline, d, "")
	}
}

// WithPriority is [Priority] for this task.
func WithPriority(n int) SubmitOption {
	return func(s *submission) { s.Edit().Prioritize("WithPriority", n) }
}

// WithLabels are labels that the task's worker must have in addition to the kind's [Labels].
func WithLabels(labels map[string]string) SubmitOption {
	labels = maps.Clone(labels)
	return func(s *submission) {
		p := s.Edit()
		all := maps.Clone(p.Labels)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, labels)
		p.Require("WithLabels", all)
	}
}

// WithSticky prefers one worker for all tasks of a key, for as long as that worker exists and has
// room.
func WithSticky(key string) SubmitOption {
	return func(s *submission) { s.Keys.Sticky = s.CheckKey("WithSticky", key) }
}

// WithLimitKey bounds how many tasks of this key run at once: [KeyLimit] of them. Tasks of all
// kinds with the key count together.
func WithLimitKey(key string) SubmitOption {
	return func(s *submission) { s.Keys.Limit = s.CheckKey("WithLimitKey", key) }
}

// WithFairKey is the key of [FairBy] for this task, and comes before it: for a program that submits
// tasks of a kind that it does not define.
func WithFairKey(key string) SubmitOption {
	return func(s *submission) { s.Keys.Fair = s.CheckFair("WithFairKey", key) }
}

// fairly gives a submission the fair key of its input, if it has none.
func fairly[In any](s *submission, in In) {
	key, err := fairKey[In](&s.Policy)
	if err != nil {
		s.Refuse("%w", err)
	}
	if key != nil && s.Keys.Fair == "" {
		s.Keys.Fair = s.CheckFair("FairBy", key(in))
	}
}

// WithHeader passes a value on to the handler, and to readers of the task's status. A name is
// visible ASCII without a colon. A value is UTF-8 without line breaks and other control characters
// except tabs. Names and values of one task take 4 KiB together at most.
func WithHeader(name, value string) SubmitOption {
	return func(s *submission) {
		meta := maps.Clone(s.Meta) // of its own: options are used again for other tasks
		if meta == nil {
			meta = map[string]string{}
		}
		meta[name] = value
		s.Meta = meta
		if fault := record.CheckHeader(name, value); fault != "" {
			s.Refuse("WithHeader: %s", fault)
		}
	}
}

// With changes the options of the kind for this task.
func With(opts ...KindOption) SubmitOption {
	return func(s *submission) { treat(s.Edit(), "With", opts) }
}

// WithTraceParent passes a W3C traceparent on to the handler, see [Task.TraceParent]. "" means
// none.
func WithTraceParent(t string) SubmitOption {
	return func(s *submission) {
		s.Trace = t
		if t == "" {
			return
		}
		if fault := record.CheckTraceParent(t); fault != "" {
			s.Refuse("WithTraceParent: %s", fault)
		}
	}
}

// WithTrace is [WithTraceParent] with a W3C tracestate, "" for none. The tracestate is a header of
// the task, "tracestate".
func WithTrace(parent, state string) SubmitOption {
	return func(s *submission) {
		WithTraceParent(parent)(s)
		if state != "" {
			WithHeader("tracestate", state)(s)
		}
	}
}

// After makes the task wait until each of the named tasks has succeeded. If one of them ends in
// another way, or if there is no such task, this task ends as [StateSkipped] and never runs. A task
// that has ended counts for as long as its outcome is kept. An outcome that an open task waits for
// is kept until that task has ended, from the moment when a scheduler has read that task: while
// nobody leads for longer than the [Retention] of the one, its outcome leaves, and the other is
// skipped. Its own delay and deadline count from its submission. At most 32 tasks.
func After(ids ...string) SubmitOption {
	return func(s *submission) { s.Wait("After", ids, false) }
}

// AfterEnded is [After], but the task runs however the named tasks have ended. Each of them must
// exist.
func AfterEnded(ids ...string) SubmitOption {
	return func(s *submission) { s.Wait("AfterEnded", ids, true) }
}
