package assign

import (
	"fmt"
	"maps"
	"time"
	"unicode/utf8"
)

// SubmitOption changes how one task is treated.
type SubmitOption func(*submission)

// submission is a task that is about to be submitted.
type submission struct {
	id     string
	kind   string
	policy policy
	header string // the policy, encoded; "" when it has to be
	keys   keysRecord
	unique string // the key, as it was given
	meta   map[string]string
	trace  string
	each   func(i int) []SubmitOption
	fault  error
}

// apply has the submission treated by options.
func (s *submission) apply(opts []SubmitOption) {
	for i, o := range opts {
		if o == nil {
			s.refuse("option %d is nil: leave it out", i)
			continue
		}
		o(s)
	}
}

// refuse notes the first fault of the options.
func (s *submission) refuse(format string, args ...any) {
	if s.fault == nil {
		s.fault = fmt.Errorf("%w: %w", ErrInvalidOption, fmt.Errorf(format, args...))
	}
}

// edit is the policy, to be changed.
func (s *submission) edit() *policy {
	s.header = ""
	return &s.policy
}

// maxKey bounds a unique, sticky or limit key and a traceparent, in bytes.
const maxKey = 256

// key checks a key.
func (s *submission) key(option, key string) string {
	if key == "" || len(key) > maxKey {
		s.refuse("%s: %d bytes: use 1 to %d", option, len(key), maxKey)
	}
	if !utf8.ValidString(key) {
		s.refuse("%s(%q): use UTF-8, or an encoding such as base64", option, key)
	}
	return key
}

// WithID names the task. A task of that name that was submitted before, and whose outcome is still kept, is returned in its
// place, whatever its input was; one of another kind is ErrOtherKind. What begins with "cron/" is for the tasks of recurrences.
// Without WithID a task has an id of its own.
func WithID(id string) SubmitOption {
	return func(s *submission) {
		s.id = id
		if id == "" && s.fault == nil { // an empty variable: it would be another task each time
			s.fault = fmt.Errorf("%w: it is empty: leave WithID out for one that is made", ErrInvalidID)
		}
	}
}

// WithUnique submits the task only if no task of its kind with this key is open: else that one is returned, see
// [Pending.Existing]. The key is free again when its task has ended.
func WithUnique(key string) SubmitOption {
	return func(s *submission) { s.unique = s.key("WithUnique", key) }
}

// WithDelay makes the task due that long after its submission (0: at once), which is before its deadline.
func WithDelay(d time.Duration) SubmitOption {
	return func(s *submission) {
		p := s.edit()
		p.duration("WithDelay", &p.Delay, d, "no delay")
	}
}

// WithDeadline ends the task that long after its submission: it expires, whether it runs or waits. It is longer than the delay.
func WithDeadline(d time.Duration) SubmitOption {
	return func(s *submission) {
		p := s.edit()
		p.duration("WithDeadline", &p.Deadline, d, "")
	}
}

// WithPriority is [Priority] for this task.
func WithPriority(n int) SubmitOption {
	return func(s *submission) { s.edit().prioritize("WithPriority", n) }
}

// WithLabels are required of the task's worker besides the kind's [Labels].
func WithLabels(labels map[string]string) SubmitOption {
	labels = maps.Clone(labels)
	return func(s *submission) {
		p := s.edit()
		all := maps.Clone(p.Labels)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, labels)
		p.require("WithLabels", all)
	}
}

// WithSticky prefers one worker for all tasks of a key, as long as it is there and has room.
func WithSticky(key string) SubmitOption {
	return func(s *submission) { s.keys.Sticky = s.key("WithSticky", key) }
}

// WithLimitKey bounds how many tasks of this key run at once, whatever their kind: [KeyLimit] of them.
func WithLimitKey(key string) SubmitOption {
	return func(s *submission) { s.keys.Limit = s.key("WithLimitKey", key) }
}

// WithHeader passes a value on to the handler, and to who asks for the task's status. A name is visible ASCII without a colon, a
// value UTF-8 without line breaks and other control characters but tabs. Names and values of one task take 4 KiB together at
// most.
func WithHeader(name, value string) SubmitOption {
	return func(s *submission) {
		meta := maps.Clone(s.meta) // of its own: options are used again for other tasks
		if meta == nil {
			meta = map[string]string{}
		}
		meta[name] = value
		s.meta = meta
		if fault := checkHeader(name, value); fault != "" {
			s.refuse("WithHeader: %s", fault)
		}
	}
}

// With changes what the kind says, for this task.
func With(opts ...KindOption) SubmitOption {
	return func(s *submission) { s.edit().apply("With", opts) }
}

// WithTraceParent passes a W3C traceparent on to the handler, see [Task.TraceParent]; "" is none.
func WithTraceParent(t string) SubmitOption {
	return func(s *submission) {
		s.trace = t
		if t == "" {
			return
		}
		if fault := checkTraceParent(t); fault != "" {
			s.refuse("WithTraceParent: %s", fault)
		}
	}
}
