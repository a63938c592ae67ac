package tasks

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Record is what was stored of a task at one revision: a submission, or an outcome.
type Record struct {
	Revision uint64
	Stored   time.Time
	Unique   string // digest of its unique key
	Kind     string
	Outcome  *Outcome // nil: a submission
	Output   string   // of a success
	Failed   bool     // an attempt's failure is kept
	Again    bool     // an outcome that is written again, to be kept for a task that waits, or no longer
}

// Outcome is the header of one.
type Outcome struct {
	Kind    string `json:"kind"`
	Status  string `json:"status"`
	Cause   string `json:"cause"`
	Epoch   uint64 `json:"epoch"`
	Attempt uint32 `json:"attempt"`
	Worker  string `json:"worker"`
}

func (r *Record) String() string {
	what := "submitted"
	if o := r.Outcome; o != nil {
		what = fmt.Sprintf("%s (%s) by %d.%d on %s, %q", o.Status, o.Cause, o.Epoch, o.Attempt, o.Worker, r.Output)
	}
	return fmt.Sprintf("%d at %s: %s", r.Revision, r.Stored.Format("15:04:05.000000"), what)
}

// readRecord reads what stands at q.<task>. It does so by what is documented of the records, not by
// the code under test.
func readRecord(revision uint64, stored time.Time, h nats.Header, data []byte) (Record, error) {
	r := Record{
		Revision: revision, Stored: stored, Failed: h.Get("Task-Failure") != "",
		Again: h.Get("Task-Kept") != "" || h.Get("Task-Ended") != "",
	}
	if text := h.Get("Task-Keys"); text != "" {
		var keys struct{ Unique string }
		if err := json.Unmarshal([]byte(text), &keys); err != nil {
			return r, fmt.Errorf("keys: %w", err)
		}
		r.Unique = keys.Unique
	}
	if text := h.Get("Task-Outcome"); text != "" {
		if err := json.Unmarshal([]byte(text), &r.Outcome); err != nil {
			return r, fmt.Errorf("outcome: %w", err)
		}
		r.Kind = r.Outcome.Kind
		if r.Outcome.Status == succeeded {
			if err := json.Unmarshal(data, &r.Output); err != nil {
				return r, fmt.Errorf("output: %w", err)
			}
		}
		return r, nil
	}
	var policy struct{ Kind string }
	if err := json.Unmarshal([]byte(h.Get("Task")), &policy); err != nil {
		return r, fmt.Errorf("submission: %w", err)
	}
	r.Kind = policy.Kind
	return r, nil
}
