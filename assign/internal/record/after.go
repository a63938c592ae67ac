package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// HeaderAfter is the header of a submission that waits for other tasks: JSON of After. The policy
// of such a submission has the version PolicyAfter, so that a scheduler which does not know of
// dependencies leaves it alone. A dead task keeps the header without that version: requeued, it
// waits for nothing.
const HeaderAfter = "Task-After"

// PolicyAfter is the version of the policy of a submission that waits for other tasks.
const PolicyAfter = 2

// MaxAfter bounds what a task may wait for, encoded, in bytes. MaxUpstream is how many tasks.
const (
	MaxAfter    = 8 << 10
	MaxUpstream = 32
)

// After names the tasks that a task waits for, or the size of the group that it completes.
type After struct {
	IDs   []string `json:"ids,omitempty"`
	Ended bool     `json:"ended,omitempty"` // it runs however they have ended
	Group int      `json:"group,omitempty"` // it completes a group of so many members instead, 0: of none
}

// Check says what is wrong, "" when nothing is.
func (a *After) Check() string {
	if a.Group != 0 {
		return CheckSize(a.Group, a)
	}
	if len(a.IDs) < 1 || len(a.IDs) > MaxUpstream {
		return fmt.Sprintf("%d tasks: use 1 to %d, or a task between that waits for some of them", len(a.IDs), MaxUpstream)
	}
	for _, id := range a.IDs {
		if !naming.Valid(id) {
			return fmt.Sprintf("%.220q is not the id of a task: use what ID returns", id)
		}
	}
	return ""
}

// ParseAfter reads the header.
func ParseAfter(header string) (*After, error) {
	if len(header) > 2*MaxAfter {
		return nil, fmt.Errorf("%w: %d bytes name what a task waits for", ErrRecord, len(header))
	}
	var a After
	if err := json.Unmarshal([]byte(header), &a); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if fault := a.Check(); fault != "" {
		return nil, fmt.Errorf("%w: %s", ErrRecord, fault)
	}
	return &a, nil
}

// Rules is what the rules know of it.
func (a *After) Rules() *groups.After {
	return &groups.After{IDs: a.IDs, Ended: a.Ended, Group: a.Group}
}

// Headers of an outcome that open tasks name. It has no time to live until none of them is left:
// then it is written again, and is kept for the seconds of headerKept. HeaderEnded is when the task
// ended, of an outcome that was written again.
const (
	headerKept  = "Task-Kept"
	HeaderEnded = "Task-Ended"
)

// KeptHeader says for how long an outcome that stays is to be kept once nobody needs it.
func KeptHeader(retention time.Duration) natskv.Field {
	return natskv.Field{Name: headerKept, Value: strconv.FormatInt(int64((retention+time.Second-1)/time.Second), 10)}
}

// Stays reports whether an outcome stays until it is released, and for how long it is kept then.
func Stays(h nats.Header) (retention time.Duration, stays bool) {
	text := First(h[headerKept])
	if text == "" {
		return 0, false
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > int64(MaxDuration/time.Second) {
		return MinRetention, true
	}
	return max(time.Duration(seconds)*time.Second, MinRetention), true
}

// EndedAt is when the task of an outcome ended.
func EndedAt(e *natskv.Entry) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, First(e.Header[HeaderEnded])); err == nil {
		return at
	}
	return e.Time
}

// headerSubmission is the revision of the submission of which a record is the outcome. Outcomes of
// groups have it: a later group of the same name must not count them.
const headerSubmission = "Task-Submission"

// SubmissionHeader says of which submission a record is the outcome.
func SubmissionHeader(revision uint64) natskv.Field {
	return natskv.Field{Name: headerSubmission, Value: strconv.FormatUint(revision, 10)}
}

// SubmissionOf is the revision of the submission that has ended with an outcome, 0: not known.
func SubmissionOf(h nats.Header) uint64 {
	revision, err := strconv.ParseUint(First(h[headerSubmission]), 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

// Restay is the write that makes an outcome stay, or leave after its retention. ok is false if the
// outcome is so already.
func Restay(e *natskv.Entry, stay bool) (op natskv.Write, ok bool) {
	retention, stays := Stays(e.Header)
	until := e.KeptUntil()
	if stays == stay || stay && until.IsZero() {
		return op, false
	}
	op = again(e)
	if stay {
		op.Header = append(op.Header, KeptHeader(until.Sub(e.Time)))
	} else {
		op.TTL = retention
	}
	return op, true
}

// Again is the write that replaces an outcome by itself, so that it has another revision. It stays
// as before, or its retention begins again.
func Again(e *natskv.Entry) natskv.Write {
	op := again(e)
	if retention, stays := Stays(e.Header); stays {
		op.Header = append(op.Header, KeptHeader(retention))
	} else if until := e.KeptUntil(); !until.IsZero() {
		op.TTL = until.Sub(e.Time)
	}
	return op
}

// again is the write without what it says about how long the outcome is kept.
func again(e *natskv.Entry) natskv.Write {
	op := natskv.Write{Key: e.Key, Value: e.Value, Expect: e.Revision}
	for _, name := range slices.Sorted(maps.Keys(e.Header)) {
		if value := First(e.Header[name]); value != "" && name != headerKept && name != HeaderEnded &&
			!strings.HasPrefix(name, "Nats-") { // those are the server's
			op.Header = append(op.Header, natskv.Field{Name: name, Value: value})
		}
	}
	op.Header = append(op.Header, natskv.Field{Name: HeaderEnded, Value: EndedAt(e).UTC().Format(time.RFC3339Nano)})
	return op
}

// WithoutWaiting is the policy of a task that is submitted again and waits for nothing.
func WithoutWaiting(header string) (string, error) {
	p, err := ReadPolicy(header)
	if err != nil || p.Version == 1 {
		return header, err
	}
	p.Version = 1
	return p.Encode()
}
