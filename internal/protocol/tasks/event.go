package tasks

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// Event is what happens to a scheduler: news of the stream and of the bucket, outcomes of its
// writes, what workers say.
type Event interface{ apply(s *Scheduler) }

type (
	// Tick says that time has passed, and that all that has come has been told: now is the time to
	// hand out, and to fire what recurs. Wall is the local clock's.
	Tick struct{ Wall time.Time }

	// Submitted is a submission that the stream delivered, and when that has stored it, zero: just
	// now.
	Submitted struct {
		ID       string
		Revision uint64
		Policy   *Policy
		Times    Times
		Stored   time.Time
		Size     int
		Keys     *Keys         // nil: none
		Tag      string        // the driver's own, which comes back with the outcome
		After    *groups.After // what it waits for, nil: nothing
	}

	// Opaque is a submission that the stream delivered and that cannot be read: it is of a later
	// version.
	Opaque struct {
		ID       string
		Revision uint64
	}

	// Settled is an outcome that the stream delivered, ours or another scheduler's. Its Status and
	// the Attempt that it names count as long as the state is not complete; zero: not known. Kept
	// says that it stays until it is released: then its Status is known. Keyed says that a
	// submission with a unique key may be about to replace it. Of is the submission that has ended,
	// 0: not known; it is known of members of groups.
	Settled struct {
		ID       string
		Revision uint64
		Status   Status
		Attempt  Attempt
		Kept     bool
		Keyed    bool
		Of       uint64
	}

	// Tallied is the record of a group that the stream delivered, stored at Stored: what became of
	// the members, as the next scheduler must know it. Of is the submission of the completion ID.
	Tallied struct {
		ID     string
		Of     uint64
		Stored time.Time
		Closed bool
		Fates  []byte
	}

	// Noted is the note of a task that the stream delivered; Gone that it was erased. Retry.Wait
	// counts from Stored; when that is zero, from now.
	Noted struct {
		ID       string
		Revision uint64
		Stored   time.Time
		Retry    Retry
		Gone     bool
	}

	// Saved is the checkpoint of a task that the stream delivered; Gone that it was erased.
	Saved struct {
		ID       string
		Revision uint64
		Gone     bool
	}

	// CancelAsked is the request to cancel a task that the stream delivered; Gone that it was
	// erased.
	CancelAsked struct {
		ID       string
		Revision uint64
		Gone     bool
	}

	// PauseSeen says that a kind was paused, or continues.
	PauseSeen struct {
		Kind     string
		Revision uint64
		Paused   bool
	}

	// LimitsSeen is the record of a kind's limits: what is declared, with the shares of fair keys,
	// and what overrides that, until a time by the stream's clock (zero: until another record says
	// so). Gone that it was removed. Nobody may change the shares any more.
	LimitsSeen struct {
		Kind     string
		Revision uint64
		Stored   time.Time
		Declared *Limits
		Shares   map[string]int
		Override *Override
		Until    time.Time
		Gone     bool
	}

	// DrainSeen says that a worker is to take nothing new, or continues. It is about the instance,
	// whatever its session.
	DrainSeen struct {
		Instance string
		Revision uint64
		Draining bool
	}

	// Reserved says that the place of a task holds no task, but a reservation, or what is left of a
	// task that was deleted: a submission may be about to replace it.
	Reserved struct {
		ID       string
		Revision uint64
	}

	// UniqueSeen is the record of a unique key that the stream delivered, and the task that has it,
	// "" for nobody. The submission of that task replaces what its place holds at revision At.
	UniqueSeen struct {
		Key      string
		Revision uint64
		Task     string
		At       uint64
	}

	// Defined is a recurrence that the stream delivered, and that has had its schedule since Since
	// by the stream's clock; nil: it was removed, or is Unreadable here: nothing is fired, and its
	// last tick is kept for a scheduler that can read it.
	Defined struct {
		Name       string
		Revision   uint64
		Recurrence *Recurrence
		Unreadable bool
		Since      time.Time
	}

	// Fired is the last tick of a recurrence that has been submitted or passed over, as the stream
	// delivered it; zero: it was erased. Last is the last one that was submitted, zero: none.
	Fired struct {
		Name     string
		Revision uint64
		Stored   time.Time
		Tick     time.Time
		Last     time.Time
	}

	// Bundled is a bundle that the stream delivered: several submissions in one record, with the
	// indexes of its members in their block of ids, ascending. A Submitted for each of them
	// follows, at the same Revision.
	Bundled struct {
		Name     string
		Revision uint64
		Indexes  []uint16
	}

	// MembersEnded is the record beside a bundle that the stream delivered: those of its members
	// that have ended. Of is the revision of the bundle.
	MembersEnded struct {
		Name  string
		Of    uint64
		Ended bundles.Set
	}

	// EndsUnknown says that nothing is known of a batch with outcomes of members of bundles. No
	// other one with such outcomes goes under the same seal: what goes along with it would lack
	// what the lost one says.
	EndsUnknown struct{}

	// BundleGone says that a bundle was removed: all of its members have ended.
	BundleGone struct {
		Name     string
		Revision uint64
	}

	// SealSeen is the seal as the stream delivered it, stored at Stored by its clock, zero: not
	// known. Ours says that it is one of this scheduler's own, Clean that the term of the scheduler
	// that wrote it has ended in peace, Since the epoch with which that term began, zero: not
	// known, and Doubted what that one has left of its doubts, see Scheduler.Doubted. Missed is the
	// first of our seals before this one when something stood in the stream that the reading may
	// have missed, and all that has taken its place; 0 for none.
	SealSeen struct {
		Revision uint64
		Stored   time.Time
		Epoch    uint64
		Ours     bool
		Clean    bool
		Since    uint64
		Doubted  uint64
		Missed   uint64
	}

	// CaughtUp says that all that stood in the stream when the reading began has been delivered.
	CaughtUp struct{}

	// Members are all members whose session is not known to be dead, from the one watch over the
	// whole bucket that has itself delivered the scheduler's role record at its epoch.
	Members struct{ List []Member }

	// Dead says that a session has ended for certain, Closed that nothing was at work in it then:
	// its own process has ended it, or another one has while it was idle. Tasks that it still had
	// have lost no worker, and go back uncounted.
	Dead struct {
		Session uint64
		Closed  bool
	}

	// Synced is a worker's answer to a Sync: all that it holds. It takes nothing from an earlier
	// scheduler any more.
	Synced struct {
		Session uint64
		Held    []Held
		Beside  int // handlers that run there beside those; 0 from a worker of an earlier version
	}

	// Told is what a worker of earlier than our term says in its member record that it holds, to
	// the leader of Epoch, since it does not know that one has heard it. It takes nothing from
	// before that epoch any more.
	Told struct {
		Session, Epoch uint64
		Held           []Held
		Beside         int
	}

	// Answered is a worker's answer to an Assign; Frame is the pushed frame.
	Answered struct {
		Session uint64
		Frame   uint64
		Answers []Answer
	}

	// NoResponder says that nobody listens where a frame went, Frame 0: a question. The server says
	// so only when it has delivered the message to nobody, on no path; of a frame of several
	// messages, when it has said so about each of them.
	NoResponder struct {
		Session uint64
		Frame   uint64
	}

	// Stopped is a worker's answer to a Stop.
	Stopped struct {
		Session uint64
		ID      string
		Attempt Attempt
	}

	// Done is a worker's report that an attempt has ended. Settle answers it under Ref.
	Done struct {
		Session uint64
		ID      string
		Attempt Attempt
		Result  Result
		Ref     any
	}

	// Progressed is a worker's report of how far an attempt is, Fraction of 1. Settle answers it
	// under Ref, after Checkpoint is stored if it is not nil. Ran orders the reports of one
	// attempt: a late copy of one before the last says nothing.
	Progressed struct {
		Session    uint64
		ID         string
		Attempt    Attempt
		Ran        int64
		Fraction   float32
		Checkpoint []byte
		Ref        any
	}

	// Watched asks that what happens to a task be told by TaskChanged for a while. An empty ID asks
	// for all tasks, but not for their progress.
	Watched struct {
		ID  string
		For time.Duration
	}

	// Written is the outcome of a write.
	Written struct {
		Write    uint64
		Outcome  record.Outcome
		Revision uint64
	}

	// Reconnected says that the connection was another one for a moment: late copies of writes may
	// be under way.
	Reconnected struct{}

	// Rotated gives the scheduler its next epoch; its state stays.
	Rotated struct{ Epoch uint64 }
)

// Member is what a scheduler sees of a member of the bucket.
type Member struct {
	Instance string
	Session  uint64
	// Described says that its record has been seen; Works that the record names this namespace.
	Described, Works bool
	Draining         bool
	Own              bool // it is in the scheduler's own process
	Slots            int
	Kinds            []string
	Labels           map[string]string
	Build            string // of what decodes its inputs, "": as no other
	// Shares names what may be lost with all workers that have it: the host, the zone.
	Shares []string
	// Alone says that it heeds Assignment.Alone. A worker of an earlier version does not read that.
	Alone bool
	// Beside says that handlers of an earlier session of the process ran there when it came.
	Beside bool
}

// Verdict is a worker's answer to one assignment.
type Verdict uint8

const (
	Accepted Verdict = iota + 1
	Full
	UnknownKind
	Draining
	Replayed
	Busy // it still runs another attempt of the same task
	Expired
	StaleEpoch
	Foreign // not for this instance and session
	Forged
	TooLarge
	Unsupported
	NotReady
	Halted    // it was told to stop it before
	Unsent    // it has never been sent: its record cannot be had, or is too large
	Undecoded // its input cannot be decoded there; told by a report
)

var verdicts = [...]string{
	"", "accepted", "full", "unknown_kind", "draining", "replay", "busy", "expired", "stale_epoch", "audience",
	"signature", "size", "version", "not_ready", "stopped", "unsent",
	"undecodable",
}

// final reports whether a rejection says that the attempt does not run and never will. A rejection
// that a worker sends before it has looked into its memory is not final: an earlier copy of the
// frame may have been accepted, and its answer lost. So a scheduler that hears that its epoch is
// stale keeps the assignment: if it is deposed its successor adopts it, if it was rotated it pushes
// it again under its new epoch.
func (v Verdict) final() bool {
	switch v {
	case Full, UnknownKind, Draining, Replayed, Busy, Expired, Halted, Unsent:
		return true
	}
	return false
}

func (v Verdict) String() string {
	if int(v) < len(verdicts) {
		return verdicts[v]
	}
	return "unknown"
}

// Answer is a worker's answer to one assignment of a frame.
type Answer struct {
	ID      string
	Attempt Attempt
	Verdict Verdict
}
