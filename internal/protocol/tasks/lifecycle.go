package tasks

// State is where a task stands, for everybody. The terminal ones are the Status of its outcome.
//
//	          ┌───────────────────────┐
//	delayed ─►│ pending ◄──► running  │
//	          │    ▲            │     │──► succeeded, dead, cancelled, expired
//	          │    └─ retrying ◄┘     │
//	          └───────────────────────┘
type State string

const (
	StatePending   State = "pending"  // it waits for a worker
	StateDelayed   State = "delayed"  // it is not due yet
	StateRunning   State = "running"  // a worker has it
	StateRetrying  State = "retrying" // an attempt has ended, the next one is not due yet
	StateSucceeded       = State(StatusSucceeded)
	StateDead            = State(StatusDead)
	StateCancelled       = State(StatusCancelled)
	StateExpired         = State(StatusExpired)
)
