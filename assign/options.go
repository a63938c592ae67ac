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

// submission is a task that is about to be submitted, with what its options say.
type submission struct {
	client.Submission
	each func(i int) []SubmitOption // of a batch
}

// submission begins one that is treated as the kind says.
func (k Kind[In, Out]) submission() submission {
	return submission{Submission: client.Submission{Kind: k.name, Policy: k.policy, Header: k.header}}
}

// apply has the submission treated by options.
func (s *submission) apply(opts []SubmitOption) {
	for i, o := range opts {
		if o == nil {
			s.Refuse("option %d is nil: leave it out", i)
			continue
		}
		o(s)
	}
}

// WithID names the task. A task of that name that was submitted before, and whose outcome is still kept, is returned in its
// place, whatever its input was; one of another kind is ErrOtherKind. What begins with "cron/" is for the tasks of recurrences.
// Without WithID a task has an id of its own.
func WithID(id string) SubmitOption {
	return func(s *submission) {
		s.ID = id
		if id == "" && s.Fault == nil { // an empty variable: it would be another task each time
			s.Fault = fmt.Errorf("%w: it is empty: leave WithID out for one that is made", ErrInvalidID)
		}
	}
}

// WithUnique submits the task only if no task of its kind with this key is open: else that one is returned, see
// [Pending.Existing]. The key is free again when its task has ended.
func WithUnique(key string) SubmitOption {
	return func(s *submission) { s.Unique = s.CheckKey("WithUnique", key) }
}

// WithDelay makes the task due that long after its submission (0: at once), which is before its deadline.
func WithDelay(d time.Duration) SubmitOption {
	return func(s *submission) {
		p := s.Edit()
		p.Duration("WithDelay", &p.Delay, d, "no delay")
	}
}

// WithDeadline ends the task that long after its submission: it expires, whether it runs or waits. It is longer than the delay.
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

// WithLabels are required of the task's worker besides the kind's [Labels].
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

// WithSticky prefers one worker for all tasks of a key, as long as it is there and has room.
func WithSticky(key string) SubmitOption {
	return func(s *submission) { s.Keys.Sticky = s.CheckKey("WithSticky", key) }
}

// WithLimitKey bounds how many tasks of this key run at once, whatever their kind: [KeyLimit] of them.
func WithLimitKey(key string) SubmitOption {
	return func(s *submission) { s.Keys.Limit = s.CheckKey("WithLimitKey", key) }
}

// WithHeader passes a value on to the handler, and to who asks for the task's status. A name is visible ASCII without a colon, a
// value UTF-8 without line breaks and other control characters but tabs. Names and values of one task take 4 KiB together at
// most.
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

// With changes what the kind says, for this task.
func With(opts ...KindOption) SubmitOption {
	return func(s *submission) { treat(s.Edit(), "With", opts) }
}

// WithTraceParent passes a W3C traceparent on to the handler, see [Task.TraceParent]; "" is none.
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
