package assign

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// Placement chooses the worker of a task, see [Config]. Place is called by the scheduler's loop: it is a pure choice, and fast.
// It returns the index of one of among, or -1 to let the task wait until something has changed. All of them take the kind, have
// the task's labels and room for it; there is at least one.
//
// For a task of more than one slot that is to wait it is asked once more, among all who have slots enough, whether these are free
// or not: on whom it chooses then room is kept for it, so that lighter tasks do not starve it.
type Placement = tasks.Placement

// Placed is the task that a [Placement] chooses a worker for.
type Placed = tasks.Placed

// Candidate is a worker with room for a task.
type Candidate = tasks.Candidate
