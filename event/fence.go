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

// FenceRejected reports that something carrying a stale or foreign epoch was refused. Nothing here emits it: it is for a resource of
// yours, which may tell a Sink when a fencing.Guard has refused a token.
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
	// Err is why no answer could be had; OK is false then.
	Err error
}

// RecordIgnored reports a record in the bucket that cannot be read, or whose version is not known. The former is written
// over after a wait, the latter is left alone.
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
