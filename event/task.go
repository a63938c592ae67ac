package event

import "time"

// TaskSubmitted reports that the scheduler has taken a stored submission into its queue.
type TaskSubmitted struct {
	Meta
	Namespace string
	Kind      string
}

// TaskAssigned reports that a worker has accepted a task.
type TaskAssigned struct {
	Meta
	Namespace string
	Kind      string
	// Worker is the instance that runs it.
	Worker string
	// Wait is the time from the submission, or from when the task was due again, to the assignment.
	Wait time.Duration
}

// TaskRejected reports that a worker has refused a task or a frame of the scheduler, or that the
// scheduler has refused a frame of a worker. Kind is empty for a frame.
type TaskRejected struct {
	Meta
	Namespace string
	Kind      string
	Worker    string
	// Reason is a short word of a bounded set, fit for a label.
	Reason string
}

// TaskCompleted reports that the outcome of a task is stored.
type TaskCompleted struct {
	Meta
	Namespace string
	Kind      string
	// Outcome is a short word of a bounded set, fit for a label.
	Outcome string
	// Run is how long the last attempt ran.
	Run time.Duration
	// Attempts counts all of them.
	Attempts int
}

// TaskReassigned reports that a task goes to another attempt.
type TaskReassigned struct {
	Meta
	Namespace string
	Kind      string
	// Cause is a short word of a bounded set, fit for a label, such as "worker_lost".
	Cause string
}

// TaskStale reports that a late report or outcome was refused, because another attempt of the task
// is current.
type TaskStale struct {
	Meta
	Namespace string
	Kind      string
	Reason    string
}

// TaskStuck reports that a handler has not returned though its context ended assign's DrainTimeout
// ago. Its slots stay taken until it returns. After a timeout its attempt still counts as running.
// It is reported once for each attempt.
type TaskStuck struct {
	Meta
	Namespace string
	Kind      string
	// ID is the task's.
	ID string
	// Cause says why the context ended.
	Cause error
	// Since is how long ago that was.
	Since time.Duration
}

// TaskFenced reports that the server has refused a write of this scheduler: a later one has taken
// over.
type TaskFenced struct {
	Meta
	Namespace string
	// Op is what was being written.
	Op string
}

// TaskRecovered reports that a new scheduler has rebuilt its state and hands out tasks.
type TaskRecovered struct {
	Meta
	Namespace string
	// Open counts the tasks without an outcome.
	Open int
	// Adopted counts the open tasks that workers have. They keep running, or have ended and are
	// reported now; none runs again.
	Adopted int
	// Took is the time from the promotion to this moment.
	Took time.Duration
}

// TaskProgress reports, from time to time, how many reports of progress running tasks have made
// since the last TaskProgress.
type TaskProgress struct {
	Meta
	Namespace string
	// Reports counts all reports, Checkpoints the reports that were stored.
	Reports, Checkpoints int
}

// TaskTicked reports that a recurrence was due.
type TaskTicked struct {
	Meta
	Namespace string
	// Recurrence is its name.
	Recurrence string
	// Fired counts the ticks that were submitted. Dropped counts the ticks that were missed and are
	// not submitted. Skipped counts those that are not submitted because a task of the recurrence was
	// open.
	Fired, Dropped, Skipped int
}

// TaskGauges reports the scheduler's levels from time to time; all are zero when it stops
// scheduling.
type TaskGauges struct {
	Meta
	Namespace string
	// Queue counts the tasks that are due and wait for a worker, InFlight the tasks that are
	// assigned.
	Queue, InFlight int
	// Oldest is by kind, for tasks that are due and wait, for how long the first of them has been
	// due. With more than 10,000 open tasks it is measured less often, and then nil.
	Oldest map[string]time.Duration
	// States counts the open tasks by state, such as "delayed" and "running".
	States map[string]int
	// Slots counts the workers' slots by state, "busy" and "free". Those of a worker that drains are
	// never free.
	Slots map[string]int
}

// DeadTasks reports, from time to time, how many dead tasks the stream keeps.
type DeadTasks struct {
	Meta
	Namespace string
	// Kept counts them by kind. It is empty when the scheduler stops scheduling.
	Kept map[string]int
}

// DeadTasksLeaving reports that dead tasks of a kind will soon be kept no longer: within a day, or
// within the last half of a retention shorter than two days. Then their inputs are gone. Requeue
// them or delete them, or raise DeadRetention. Each scheduler reports a task once.
type DeadTasksLeaving struct {
	Meta
	Namespace string
	Kind      string
	// Tasks counts them. First is the id of the one that leaves first, and At is when.
	Tasks int
	First string
	At    time.Time
}

func (TaskSubmitted) event()    {}
func (TaskStuck) event()        {}
func (TaskAssigned) event()     {}
func (TaskRejected) event()     {}
func (TaskCompleted) event()    {}
func (TaskReassigned) event()   {}
func (TaskStale) event()        {}
func (TaskFenced) event()       {}
func (TaskRecovered) event()    {}
func (TaskProgress) event()     {}
func (TaskTicked) event()       {}
func (TaskGauges) event()       {}
func (DeadTasks) event()        {}
func (DeadTasksLeaving) event() {}
