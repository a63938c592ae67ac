package event

import "time"

// ClaimAttempted reports that this process has tried to take a role.
type ClaimAttempted struct {
	Meta
	Role string
	// Outcome is [OutcomeWon], [OutcomeRefused] or [OutcomeUnknown].
	Outcome string
	// Duration is from the send to the answer.
	Duration time.Duration
}

// FenceRejected reports that a request with a stale or foreign epoch was refused. This library
// never emits it. It is for a resource of yours: when a fencing.Guard has refused a token, the
// resource may report that to a Sink.
type FenceRejected struct {
	Meta
	Role string
	// Epoch is the epoch that was refused.
	Epoch uint64
	// Reason is a short word of a bounded set, fit for a label.
	Reason string
}

// TokenValidated reports that the leader has asked the server whether it still leads.
type TokenValidated struct {
	Meta
	Role  string
	Epoch uint64
	// OK is the answer.
	OK bool
	// Err is why there was no answer; OK is then false.
	Err error
}

// RecordIgnored reports a record in the bucket that cannot be read, or that has an unknown version.
// An unreadable record is overwritten after a wait. A record of an unknown version is left alone.
type RecordIgnored struct {
	Meta
	// Key is the record's key.
	Key    string
	Reason string
}

func (ClaimAttempted) event() {}
func (FenceRejected) event()  {}
func (TokenValidated) event() {}
func (RecordIgnored) event()  {}
