package event

// Fault reports an operation that did not work and is being retried. A fault that cannot be retried
// ends the session: see [SessionLost].
type Fault struct {
	Meta
	// Doing is what was being done, such as "renew lease".
	Doing string
	// Role is the role that the operation was for, "" for an operation of the session itself.
	Role string
	Err  error
	// Attempts counts the attempts in a row that have failed.
	Attempts int
	// Slow says that, after many failed attempts, the operation is now retried at a slow pace.
	Slow bool
}

// Lagged tells a Sink or a subscriber that it was too slow: N events before this one were left out.
// Promotions, demotions, and the opening, loss, end or kill of a session are never left out.
type Lagged struct {
	Meta
	N uint64
}

func (Fault) event()  {}
func (Lagged) event() {}
