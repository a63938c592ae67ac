package assign

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// Placement chooses the worker of a task, see [Config].Placement.
type Placement interface {
	// Place returns the index of one of among, or -1 to let the task wait until something has
	// changed. All of them take the kind, have the task's labels and room for it. There is at least
	// one. The slice is valid until Place returns.
	//
	// For a task of several slots that has to wait, Place is called once more, with all workers
	// that have enough slots, free or not. Room is kept for the task on the worker that it chooses
	// then, so that smaller tasks do not starve the task.
	//
	// The scheduler's loop calls Place: it is a pure choice, and fast.
	Place(task Placed, among []Candidate) int
}

// Placed is the task that a [Placement] chooses a worker for.
type Placed struct {
	ID       string
	Kind     string
	Sticky   string // the sticky key, "" for none
	Priority int
	Slots    int // how many slots of a worker the task takes
	Labels   map[string]string
}

// Candidate is a worker with room for a task.
type Candidate struct {
	Instance string
	Session  uint64
	Slots    int
	Load     int // slots that are taken
	Labels   map[string]string
	Own      bool // the worker is in the scheduler's process
}

// placement is a user's Placement for the rules. Only the scheduler's loop calls it.
type placement struct {
	chosen Placement
	among  *[]Candidate // used again
}

func (p placement) Place(task tasks.Placed, among []tasks.Candidate) int {
	list := (*p.among)[:0]
	for _, c := range among {
		list = append(list, Candidate(c))
	}
	*p.among = list
	return p.chosen.Place(Placed{task.ID, task.Kind, task.Sticky, task.Priority, task.Weight, task.Labels}, list)
}
