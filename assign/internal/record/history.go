package record

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

const (
	maxFailed     = 10      // attempts that a history tells of: the latest
	maxFailedText = 1 << 10 // bytes of the error of each
)

// Failed is an attempt that has failed, or was lost with its worker, and that another one has
// followed.
type Failed struct {
	Epoch   uint64    `json:"epoch"`
	Attempt uint32    `json:"attempt"`
	Cause   string    `json:"cause"`
	Worker  string    `json:"worker,omitempty"`
	Ended   time.Time `json:"ended"` // by the scheduler's clock
	Ran     int64     `json:"ran_us,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// Failures are the attempts that a history tells of, the first ones first; nil if it cannot be
// read.
func Failures(history string) []Failed {
	var all []Failed
	if len(history) > 2*maxHistory || json.Unmarshal([]byte(history), &all) != nil {
		return nil
	}
	return all[max(len(all)-maxFailed, 0):]
}

// ErrorOf is the beginning of the error of the last attempt, as its worker has reported it.
func ErrorOf(o *tasks.Outcome) string {
	var f Failure
	if body, ok := o.Body.(*frame.Finding); ok && json.Unmarshal(body.Data, &f) == nil {
		return beginning(f.Error, maxFailedText)
	}
	return ""
}

// AddFailure continues a history with an attempt that has just ended. The attempt may be its last
// one already. A zero attempt adds nothing.
func AddFailure(history string, o *tasks.Outcome, now time.Time) string {
	if o.Attempt.IsZero() {
		return history
	}
	all := slices.DeleteFunc(Failures(history), func(f Failed) bool {
		return f.Epoch == o.Attempt.Epoch && f.Attempt == o.Attempt.N
	})
	last := Failed{
		Epoch: o.Attempt.Epoch, Attempt: o.Attempt.N, Cause: o.Cause, Worker: o.Instance,
		Ended: now.UTC().Truncate(time.Millisecond), Ran: o.Ran / 1000,
	}
	last.Error = ErrorOf(o)
	if all = append(all, last); len(all) > maxFailed {
		all = all[len(all)-maxFailed:]
	}
	for most := maxFailedText; len(all) > 0; most /= 2 { // JSON writes some bytes as six
		for i := range all {
			all[i].Error = beginning(all[i].Error, most)
		}
		data, err := json.Marshal(all)
		if err == nil && len(data) <= maxHistory {
			return string(data)
		}
		if err != nil || most == 0 { // a time that somebody else has written, or long names
			all = all[1:]
		}
	}
	return ""
}
