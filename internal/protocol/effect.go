package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Effect is what a machine wants done, or wants known. Its driver carries effects out in their
// order. Notices of the view are effects too.
type Effect interface{ IsEffect() }

type (
	// Write asks for one conditional write; Written answers it, after the operation timeout at the
	// latest.
	Write struct {
		ID            WriteID
		Key           string
		Value         []byte
		Delete        bool   // write a delete marker
		Expect        uint64 // the last revision of Key; 0: the key is absent
		GuardKey      string // when set, the condition is on the last revision of this key instead
		GuardRevision uint64
		TTL           time.Duration // server-side expiry, garbage collection only; 0: none
	}

	// WriteTogether asks for writes of which all are stored or none, with a condition for each. No
	// two of them have the same key. WrittenTogether answers it, after the operation timeout at the
	// latest.
	WriteTogether struct {
		ID     WriteID
		Writes []Write
	}

	// RebuildWatch asks for a new watch; WatchReset and SnapshotDone follow.
	RebuildWatch struct{ Reason string }

	// Widen asks for a watch over every key, or for one that also shows our own idle beats, or, with
	// neither, for the usual one again. The present watch continues until the next one is made;
	// WatchReset and SnapshotDone follow.
	Widen struct{ All, OwnIdle bool }

	// BeginTerm starts the work of a term. Held is the session that holds it.
	BeginTerm struct {
		Role     string
		Epoch    uint64
		Token    string
		Session  uint64
		Priority int32
		Gap      time.Duration // since the last sign of the former leader, 0: none was seen
		Under    uint64        // the term that it depends on, 0: none
	}

	// EndTerm ends trust in a term and cancels its work; Drained answers it. Term is the epoch it
	// began with.
	EndTerm struct {
		Role  string
		Term  uint64
		Cause Cause
	}

	// Rotated gives an uninterrupted term its next epoch and token.
	Rotated struct {
		Role, Token string
		Term, Epoch uint64
	}

	// Ask sends a control request to another member; Answered ends it.
	Ask struct {
		Instance string
		Request  Request
	}

	// Wake sends a control request to another member. There is no answer.
	Wake struct {
		Instance string
		Request  Request
	}

	// Done ends a command.
	Done struct {
		ID        CommandID
		Err       error
		Successor string // the first in line for the role that was given away
	}

	// Opened says that a session has begun, Lost that it is over though nobody closed it; a new one
	// opens by itself.
	Opened struct{ Session uint64 }
	Lost   struct {
		Session uint64
		Reason  string
	}

	// Ended is the last effect of a machine: it was closed, or failed for good. Undrained are the
	// roles whose work still ran. Closed is the nonce of the lease if that is known to be closed: the
	// watch may show it before the write is acknowledged.
	Ended struct {
		Undrained []string
		Closed    string
		Fault     error
	}
)

// Notices: what the driver only passes on.
type (
	RoleStuck struct {
		Role  string
		Epoch uint64
		Since time.Duration
	}
	RoleGiven struct {
		Role  string
		Epoch uint64
	} // vacated, or found to be another's: the term is history

	// RoleUnplaced says that all who could take a role lead as many as they may.
	RoleUnplaced struct{ Role string }

	PeerKilled struct {
		Peer    record.Peer
		Session uint64
	}

	Beat struct {
		Outcome  record.Outcome
		Revision uint64
		Took     time.Duration
		Idle     bool
	}
	Claimed struct {
		Role    string
		Outcome record.Outcome
		Took    time.Duration
	}
	Retrying struct { // a transient fault
		Doing    string
		Role     string
		Attempts int
		Slow     bool
	}
)

func (Write) IsEffect()         {}
func (WriteTogether) IsEffect() {}
func (RebuildWatch) IsEffect()  {}
func (Widen) IsEffect()         {}
func (BeginTerm) IsEffect()     {}
func (EndTerm) IsEffect()       {}
func (Rotated) IsEffect()       {}
func (Ask) IsEffect()           {}
func (Wake) IsEffect()          {}
func (Done) IsEffect()          {}
func (Opened) IsEffect()        {}
func (Lost) IsEffect()          {}
func (Ended) IsEffect()         {}

func (RoleStuck) IsEffect() {}
func (RoleGiven) IsEffect() {}

func (PeerKilled) IsEffect()   {}
func (RoleUnplaced) IsEffect() {}

func (Beat) IsEffect()     {}
func (Claimed) IsEffect()  {}
func (Retrying) IsEffect() {}
