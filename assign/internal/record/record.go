package record

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Headers of the records at <namespace>.q.<task>. A submission has the first, JSON that is the same
// for all tasks that are submitted alike, and its input as data. An outcome has the second, and the
// output as data. The outcome of a dead task has both, and the input as data, so that the task can
// be submitted again.
const (
	HeaderTask    = "Task"
	HeaderOutcome = "Task-Outcome"
	HeaderKeys    = "Task-Keys"    // JSON of keysRecord, when there are any
	HeaderMeta    = "Task-Meta"    // JSON of the submitter's own headers, when there are any
	HeaderFailure = "Task-Failure" // JSON of failureRecord, of an outcome other than a success
	// JSON of Failed, of the attempts before: of a note, and of the outcome of a dead task
	HeaderHistory = "Task-History"
	headerObject  = "Task-Object" // the output is in the object store, the data is JSON of objectRecord
	HeaderTrace   = "traceparent"
)

// Limits of the parts that go along with an input or an output, in bytes. Their sum is below
// Headroom.
const (
	MaxMeta       = 4 << 10
	MaxCheckpoint = 16 << 10
	MaxSealing    = 1 << 10 // what a codec may add to a checkpoint
	maxFailure    = 24 << 10
	maxHistory    = 12 << 10
	Headroom      = 64 << 10
)

// Note is the data of a note, <namespace>.t.<task>.
type Note struct {
	Version  int    `json:"v"`
	Epoch    uint64 `json:"epoch"`
	Attempt  uint32 `json:"attempt"`
	Failures int    `json:"failures,omitempty"`
	Crashes  int    `json:"crashes,omitempty"`
	Snoozes  int    `json:"snoozes,omitempty"`
	// Wait counts from when the note was stored.
	Wait int64 `json:"wait_ms,omitempty"`
	// StartedEpoch and Started name an attempt that was about to be handed to the scheduler's own
	// process, whose session that was.
	StartedEpoch uint64 `json:"started_epoch,omitempty"`
	Started      uint32 `json:"started,omitempty"`
	Session      uint64 `json:"started_session,omitempty"`
	Alone        bool   `json:"alone,omitempty"` // it was to run alone
	// Group, Ran and Blame are what is held against a task that has lost a worker: its group of
	// suspects, how long the attempt that was lost had run, and the losses that are blamed on it.
	Group uint64 `json:"group,omitempty"`
	Ran   int64  `json:"ran_ms,omitempty"`
	Blame int    `json:"blame,omitempty"`
}

// maxNoted bounds the times of a note, in milliseconds.
const maxNoted = 1 << 40

func EncodeNote(r tasks.Retry) ([]byte, error) {
	return json.Marshal(Note{
		1, r.Attempt.Epoch, r.Attempt.N, r.Failures, r.Crashes, r.Snoozes, (r.Wait + time.Millisecond - 1).Milliseconds(),
		r.Started.Epoch, r.Started.N, r.Session, r.Alone, r.Group, Milliseconds(r.Ran), r.Blame,
	})
}

func DecodeNote(data []byte) (tasks.Retry, error) {
	var n Note
	if err := json.Unmarshal(data, &n); err != nil {
		return tasks.Retry{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if n.Version != 1 || n.Wait < 0 || n.Wait > maxNoted || n.Failures < 0 || n.Crashes < 0 || n.Snoozes < 0 ||
		n.Ran < 0 || n.Ran > maxNoted || n.Blame < 0 {
		return tasks.Retry{}, ErrRecord
	}
	return tasks.Retry{
		Attempt:  tasks.Attempt{Epoch: n.Epoch, N: n.Attempt},
		Failures: n.Failures, Crashes: n.Crashes, Snoozes: n.Snoozes, Wait: time.Duration(n.Wait) * time.Millisecond,
		Started: tasks.Attempt{Epoch: n.StartedEpoch, N: n.Started}, Session: n.Session, Alone: n.Alone,
		Group: n.Group, Ran: time.Duration(n.Ran) * time.Millisecond, Blame: n.Blame,
	}, nil
}

// Seal is the data of the seal. Mark belongs to one term: it tells seals of ours whose
// acknowledgements were lost from those of others.
type Seal struct {
	Version int    `json:"v"`
	Epoch   uint64 `json:"epoch"`
	Holder  string `json:"holder"`
	Mark    string `json:"mark"`
	Clean   bool   `json:"clean,omitempty"` // the term has ended in peace
	// Since is the epoch with which the term began that ends with a Clean seal. Epoch is its last
	// epoch.
	Since uint64 `json:"since,omitempty"`
	// Doubted is the revision below which an open task may have made an earlier scheduler crash. 0
	// means that none may have.
	Doubted uint64 `json:"suspect,omitempty"`
}

func DecodeSeal(data []byte) (s Seal, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if s.Version != 1 || s.Epoch == 0 {
		return s, ErrRecord
	}
	return s, nil
}
