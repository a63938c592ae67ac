package event

import "time"

// SessionOpened reports that the lease is held; Meta.Session is the number of the new session.
type SessionOpened struct {
	Meta
	// TTL is the L of the lease.
	TTL time.Duration
}

// SessionLost reports that the session is over against its will. Every term in it has ended; a new session is opened
// by itself unless the cause is a permanent fault.
type SessionLost struct {
	Meta
	// Reason is a short word of a bounded set, fit for a label.
	Reason string
	Cause  error
}

// SessionClosed reports that the session was closed by its owner and will not open again.
type SessionClosed struct {
	Meta
	// Undrained are the roles whose work had not returned; their session is left to run out instead of being closed,
	// so that no successor runs beside it.
	Undrained []string
}

// Heartbeat reports one attempt to renew the lease.
type Heartbeat struct {
	Meta
	// Duration is from the send to the answer, or to the moment the answer was given up on.
	Duration time.Duration
	// Outcome is [OutcomeWon], [OutcomeRefused] or [OutcomeUnknown].
	Outcome string
	// Revision is the lease's new revision if won, else 0.
	Revision uint64
	// Idle says that it was the slow beat of a member that holds nothing.
	Idle bool
}

// ConnectionChanged reports that the NATS connection came up or went down.
type ConnectionChanged struct {
	Meta
	Connected bool
	// Status is the connection's own word for it, such as "RECONNECTING".
	Status string
}

func (SessionOpened) event()     {}
func (SessionLost) event()       {}
func (SessionClosed) event()     {}
func (Heartbeat) event()         {}
func (ConnectionChanged) event() {}
