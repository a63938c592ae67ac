package tasks

// Placement chooses who runs a task. It must be a pure choice: the same from the same, without waiting for anything.
type Placement interface {
	// Place returns the index of one of among, or -1 to let the task wait. All of them take the kind, have the labels and
	// have room; there is at least one.
	Place(task Placed, among []Candidate) int
}

// Placed is the task that a Placement chooses a worker for.
type Placed struct {
	ID       string
	Kind     string
	Sticky   string // its sticky key, "" for none
	Priority int
	Weight   int // slots that it takes
	Labels   map[string]string
}

// Candidate is a worker with room for a task.
type Candidate struct {
	Instance string
	Session  uint64
	Slots    int
	Load     int // slots that are taken
	Labels   map[string]string
	Own      bool // it is in the scheduler's process
}
