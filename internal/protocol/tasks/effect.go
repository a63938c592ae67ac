package tasks

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// Effect is what a scheduler wants done, or wants known. Its driver carries effects out in order.
type Effect interface{ effect() }

type (
	// WriteSeal asks for the seal at Epoch over revision Expect (0: none). Written answers every
	// write.
	WriteSeal struct {
		Write, Expect, Epoch uint64
	}

	// Reread asks for another reading of the stream, which continues behind what was read: the
	// present one may be of a replica that lags.
	Reread struct{}

	// WriteOutcome asks for a task's outcome in the place of its submission, Guard being the
	// revision of the seal. Revision is the submission's: a dead task keeps its input, so that it
	// can be submitted again. Again says that an outcome may have been stored before, and be gone
	// already, and the id be in use again: then it must be stored only if the submission still
	// stands at Revision, and as one with the erasing of the note, which has the seal's condition.
	WriteOutcome struct {
		Write, Guard uint64
		ID           string
		Revision     uint64
		Kind         string
		Tag          string // of its submission
		Retention    time.Duration
		Outcome      Outcome
		Again        bool
		Noted        bool // it has a note, or may have
		Kept         bool // it stays until ReleaseOutcome, and only then Retention begins
		// Member is the member of a bundle that the task is, zero: of none. Then the outcome is
		// stored in one step with what [Scheduler.Bundles] says, or not at all.
		Member bundles.Member
	}

	// WriteNote asks for a task's note. Failed is how the attempt ended that the note counts, the
	// zero Outcome for none. Noted says that the note takes the place of another one, or may: what
	// that one says about earlier attempts is to be kept, if it is later than the submission, which
	// stands at Revision.
	WriteNote struct {
		Write, Guard uint64
		ID           string
		Revision     uint64
		Retry        Retry
		Failed       Outcome
		Noted        bool
	}

	// WriteCheckpoint asks for a task's checkpoint.
	WriteCheckpoint struct {
		Write, Guard uint64
		ID           string
		Attempt      Attempt
		Data         []byte
	}

	// WriteTally asks for the record of the group that task ID completes, which was submitted at
	// revision Of. It is to be kept for longer than a day, and it is written again each day.
	WriteTally struct {
		Write, Guard uint64
		ID           string
		Of           uint64
		Size         int
		Closed       bool
		Fates        []byte
		Retention    time.Duration // of the outcome of the completion, at most
	}

	// Erase asks that a record be removed that says nothing any more: ID is the task's, or the
	// recurrence's. Expect is the revision at which it must stand, of one that others write: then
	// that is the condition, and not the seal.
	Erase struct {
		Write, Guard uint64
		What         Record
		ID           string
		Expect       uint64
	}

	// FreeUnique asks that the record of a unique key be emptied if it still stands at revision
	// Expect: its task has ended.
	FreeUnique struct {
		Write, Expect uint64
		Key           string
	}

	// WriteTick asks for two records as one step: the submission of task ID, only if there is
	// nothing in its place, and Tick as the last one of the recurrence, under the seal.
	WriteTick struct {
		Write, Guard uint64
		ID           string
		Tick         time.Time
		Recurrence   *Recurrence
	}

	// WritePass asks for Tick as the last one of a recurrence, under the seal, without a task. Last
	// is the last one that has one.
	WritePass struct {
		Write, Guard uint64
		Name         string
		Tick, Last   time.Time
	}

	// Assign hands tasks to a worker; Answered or NoResponder follow, or nothing.
	Assign struct {
		Session     uint64
		Instance    string
		Frame       uint64
		Epoch, Term uint64
		// Low: of the assignments of this term with a serial up to Low, none will be pushed again
		// to this worker.
		Low  uint64
		List []Assignment
	}

	// Sync asks a worker what it holds; Synced answers.
	Sync struct {
		Session  uint64
		Instance string
		Epoch    uint64
	}

	// Stop tells a worker to end an attempt; Stopped answers. Status is how its task has ended,
	// StatusCancelled or StatusExpired; "" is any other reason: the task has another attempt, or
	// has ended in a way that is not known.
	Stop struct {
		Session     uint64
		Instance    string
		Epoch, Term uint64
		ID          string
		Attempt     Attempt
		Serial      uint64
		Status      Status
	}

	// Unanswered says that a worker has not answered for so long that its session is to be ended,
	// if it is idle: then it has begun nothing of what it was pushed. Dead follows if that was so.
	Unanswered struct {
		Session  uint64
		Instance string
	}

	// Settle answers a Done or a Progressed, after what it led to is stored. Stale says that it led
	// to nothing.
	Settle struct {
		Ref   any
		Stale bool
	}

	// Fenced says that a later scheduler has sealed the stream, By being its epoch. Nothing more
	// will happen.
	Fenced struct{ By uint64 }

	// Broken says that the scheduler was about to do what no rule does. Nothing more will happen;
	// the next scheduler reads the stream again.
	Broken struct{ What string }

	// Exhausted says that the numbers of attempts of this epoch are used up. Nothing more will
	// happen.
	Exhausted struct{ Epoch uint64 }
)

// Notices: what the driver only passes on.
type (
	// Ready says that the state is complete and tasks are handed out from now on.
	Ready    struct{ Open, Adopted int }
	Queued   struct{ Kind string }
	Assigned struct {
		Kind, Instance string
		Wait           time.Duration
	}
	Rejected struct {
		Kind, Instance string
		Verdict        Verdict
	}
	Completed struct {
		Kind    string
		Outcome Outcome
	}
	Reassigned struct{ Kind, Cause string }
	Stale      struct{ Kind, Reason string }
	// Unreached says that a worker lives, and that messages do not reach it, for the Times-th time:
	// it is given nothing. It holds Held tasks that it may have heard of.
	Unreached struct {
		Session     uint64
		Instance    string
		Held, Times int
	}
	// Suspected says that N tasks, the first of which are IDs, run again as suspects: the worker
	// was lost while it ran them. Instance is "" if it is not known. Blame is what was blamed on
	// one of them at most, of a budget.
	Suspected struct {
		Instance         string
		IDs              []string
		N, Blame, Budget int
	}
	// Refused says that the server refused a write of ours: op.
	Refused struct{ Op string }
	// TaskChanged says where a watched task is now, or any task while all of them are watched.
	// Outcome is set when it has ended.
	TaskChanged struct {
		Info    TaskInfo
		Outcome *Outcome
	}
	// Ahead says that the last tick of a recurrence, or its definition, is so far ahead of the
	// stream's clock, Now, that a clock was wrong when it was written: then ticks count from now.
	// Or that clock is wrong now, when the local one has come to it: then it is Believed, and the
	// next tick comes after it.
	Ahead struct {
		Name      string
		Tick, Now time.Time
		Trusted   bool
	}
	// Ticked says that a recurrence was due: how many ticks were submitted, how many dropped as
	// missed, and how many skipped, since a task of the recurrence was open.
	Ticked struct {
		Name                    string
		Fired, Dropped, Skipped int
	}
)

// Record is a kind of record that belongs to a task or a recurrence.
type Record uint8

const (
	NoteRecord Record = iota + 1
	CheckpointRecord
	CancelRecord
	TickRecord
)

// Assignment is one task in an Assign.
type Assignment struct {
	ID       string
	Revision uint64 // of its submission, which holds the payload
	Attempt  Attempt
	Serial   uint64
	Try      int // counts attempts that ran, from 1
	Policy   *Policy
	// Left is the time until the task expires, 0: no limit.
	Left time.Duration
	// Checkpoint is the revision of the record that an earlier attempt has left, 0: none.
	Checkpoint uint64
	// Alone says that the worker takes it only when none of its handlers runs, not even one that
	// was told to stop. See Member.Alone.
	Alone bool
}

func (WriteSeal) effect()       {}
func (Reread) effect()          {}
func (WriteOutcome) effect()    {}
func (WriteNote) effect()       {}
func (WriteCheckpoint) effect() {}
func (WriteTally) effect()      {}
func (Erase) effect()           {}
func (FreeUnique) effect()      {}
func (WriteTick) effect()       {}
func (WritePass) effect()       {}
func (TaskChanged) effect()     {}
func (Ticked) effect()          {}
func (Ahead) effect()           {}
func (Assign) effect()          {}
func (Sync) effect()            {}
func (Stop) effect()            {}
func (Unanswered) effect()      {}
func (Suspected) effect()       {}
func (Unreached) effect()       {}
func (Settle) effect()          {}
func (Fenced) effect()          {}
func (Exhausted) effect()       {}
func (Broken) effect()          {}
func (Ready) effect()           {}
func (Queued) effect()          {}
func (Assigned) effect()        {}
func (Rejected) effect()        {}
func (Completed) effect()       {}
func (Reassigned) effect()      {}
func (Stale) effect()           {}
func (Refused) effect()         {}
