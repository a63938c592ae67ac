package tasks

import "time"

// TaskInfo is what the scheduler knows about one open task.
type TaskInfo struct {
	ID       string
	Revision uint64 // of its submission
	Kind     string
	State    State
	Running  bool
	Ending   bool    // its outcome is being stored, and may be in the stream: look there to know for certain
	Tries    int     // attempts that ran or run
	Attempt  Attempt // the last, zero before the first
	Instance string  // that has it, "" for none
	Progress float32 // of the running attempt, of 1
	Priority int
	Age      time.Duration // since it was submitted
	Due      time.Duration // until it may run, 0 when it may
	Waiting  time.Duration // since it may run, when nobody has it
	Reason   Reason        // why nobody has it, though it may run
	Left     time.Duration // until it expires, 0: never
	Keys     *Keys         // nil: none
	Cursor   uint64        // with which List continues behind it
}

// Filter selects tasks: each of its parts that is not empty must hold.
type Filter struct {
	States []State
	Kinds  []string
	Prefix string // of the id
}

// Overview is the books in numbers. Its parts are copies.
type Overview struct {
	Epoch   uint64
	Ready   bool
	Open    int
	Kinds   []KindView // by name
	Workers []WorkerView
}

// KindView is one kind of which tasks are open, or which is paused.
type KindView struct {
	Kind        string
	Waiting     int // due
	Delayed     int // not due yet: delayed or retrying, or waiting for other tasks
	Running     int
	Paused      bool
	Concurrency int            // 0: any number
	Rate        float64        // likewise
	KeyLimit    int            // of its record, 0: of each submission
	Reasons     map[Reason]int // why those that wait do, and how many; nil: it is only a matter of moments
}

// WorkerView is one session that takes tasks, or an instance that is drained and has none: then
// Session is 0.
type WorkerView struct {
	Instance string
	Session  uint64
	Slots    int
	Load     int  // slots that are taken
	Running  int  // tasks
	Draining bool // it takes nothing more, since it is being closed
	Drained  bool // it is given nothing more, since somebody wants that
	// Unreachable: messages do not reach it, and it is given nothing until they do.
	Unreachable bool
	Own         bool
	Labels      map[string]string
	Kinds       []string
}
