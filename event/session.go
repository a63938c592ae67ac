package event

import "time"

// SessionOpened reports that the lease is held; Meta.Session is the number of the new session.
type SessionOpened struct {
	Meta
	// TTL is the lifetime of the lease.
	TTL time.Duration
}

// SessionLost reports that the session has ended without being closed. Every term in it has ended.
// A new session opens automatically, unless the cause is a permanent fault.
type SessionLost struct {
	Meta
	// Reason is a short word of a bounded set, fit for a label.
	Reason string
	Cause  error
}

// SessionClosed reports that the session was closed by its owner and will not open again.
type SessionClosed struct {
	Meta
	// Undrained are the roles whose work had not returned. Their session is left to run out instead
	// of being closed, so that no successor runs beside that work.
	Undrained []string
}

// Heartbeat reports one attempt to renew the lease.
type Heartbeat struct {
	Meta
	// Duration is the time from the send to the answer, or until the wait for the answer was given
	// up.
	Duration time.Duration
	// Outcome is [OutcomeWon], [OutcomeRefused] or [OutcomeUnknown].
	Outcome string
	// Revision is the lease's new revision if won, else 0.
	Revision uint64
	// Idle says that this was the slow heartbeat of a member that holds no role.
	Idle bool
}

// ConnectionChanged reports that the NATS connection came up or went down.
type ConnectionChanged struct {
	Meta
	Connected bool
	// Status is the state of the connection in the words of nats.go, such as "RECONNECTING".
	Status string
}

func (SessionOpened) event()     {}
func (SessionLost) event()       {}
func (SessionClosed) event()     {}
func (Heartbeat) event()         {}
func (ConnectionChanged) event() {}
