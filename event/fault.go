package event

// Fault reports something that did not work and is being retried. A fault that cannot be retried ends the session:
// [SessionLost].
type Fault struct {
	Meta
	// Doing is what was being done, such as "renew lease".
	Doing string
	// Role is the role it was done for, "" for the session's own business.
	Role string
	Err  error
	// Attempts counts the attempts in a row that have not worked.
	Attempts int
	// Slow says that there were so many that the pace has dropped to the slow lane.
	Slow bool
}

// Lagged tells a Sink or a subscriber that it was too slow: so many events before this one were left out. Promotions,
// demotions, and the opening, loss, end or kill of a session are never among them.
type Lagged struct {
	Meta
	N uint64
}

func (Fault) event()  {}
func (Lagged) event() {}
