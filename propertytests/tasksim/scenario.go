package tasksim

import "time"

// Scenario is what is drawn for one run.
type Scenario struct {
	Seed       uint64
	Processes  int // Candidates of them campaign
	Candidates int
	Slots      int
	Tasks      int

	Lease   time.Duration
	Delay   time.Duration // of most messages, at most
	Late    float64       // share of messages that are very late
	Loss    float64
	Doubled float64
	Deposed float64       // share of the looks at the role in which it is given to somebody else though its holder lives
	Lag     time.Duration // of views, at most; some lag less
	ReadLag time.Duration // of the reading of the stream, at most
	Faults  time.Duration // between two, on average

	Length, Calm time.Duration

	Trace string // the task whose story is printed
}

// Counts say what happened: a run in which nothing did proves nothing.
type Counts struct {
	Started, Adopted, Reruns, Rejected, Refused, Fenced, Stale, Cancelled, Terms, Depositions, Lost, Crashes, Cuts, Abandoned, LateWrites, Outcomes int
}

// Add adds up.
func (c *Counts) Add(o Counts) {
	c.Started += o.Started
	c.Adopted += o.Adopted
	c.Reruns += o.Reruns
	c.Rejected += o.Rejected
	c.Refused += o.Refused
	c.Fenced += o.Fenced
	c.Stale += o.Stale
	c.Cancelled += o.Cancelled
	c.Terms += o.Terms
	c.Depositions += o.Depositions
	c.Lost += o.Lost
	c.Crashes += o.Crashes
	c.Cuts += o.Cuts
	c.Abandoned += o.Abandoned
	c.LateWrites += o.LateWrites
	c.Outcomes += o.Outcomes
}
