package assign

import "context"

// Overview is what the scheduler has on its books, in numbers.
type Overview struct {
	// Scheduler is the instance that leads the role, in the term of Epoch; Ready says that it hands out.
	Scheduler string `json:"scheduler"`
	Epoch     uint64 `json:"epoch"`
	Ready     bool   `json:"ready"`
	// Trouble says what keeps the scheduler from storing how tasks end, and what to do; "" for nothing.
	Trouble string           `json:"trouble,omitempty"`
	Kinds   []KindOverview   `json:"kinds"`
	Workers []WorkerOverview `json:"workers"`
	// Omitted is how many workers are left out: with them the answer would be larger than a message may be.
	Omitted int `json:"omitted,omitempty"`
}

// KindOverview is one kind of which tasks are open, or that is paused.
type KindOverview struct {
	Kind string `json:"kind"`
	// Waiting are due, Delayed are not yet (delayed and retrying), Running are with a worker.
	Waiting int  `json:"waiting"`
	Delayed int  `json:"delayed"`
	Running int  `json:"running"`
	Paused  bool `json:"paused,omitempty"`
	// Concurrency and Rate are the limits of its newest submission, 0 for none.
	Concurrency int     `json:"concurrency,omitempty"`
	Rate        float64 `json:"rate,omitempty"`
	// Reasons counts those that wait by why they do; those that are about to be handed out are not among them.
	Reasons map[Reason]int `json:"reasons,omitempty"`
}

// WorkerOverview is one worker.
type WorkerOverview struct {
	Instance string `json:"instance"`
	// Session is 0 of an instance that is drained and takes no part.
	Session uint64 `json:"session"`
	// Load is how many of its slots are taken.
	Slots int `json:"slots"`
	Load  int `json:"load"`
	// Draining says that it shuts down; Drained, that DrainWorker keeps tasks from it.
	Draining bool              `json:"draining,omitempty"`
	Drained  bool              `json:"drained,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Kinds    []string          `json:"kinds"`
}

// GetOverview asks the scheduler how many tasks of each kind are open, and which workers there are. Errors:
// ErrNoScheduler, ErrNoClient, ErrClosed, the connection's, ctx's.
func GetOverview(ctx context.Context, in Submitter) (Overview, error) {
	c, _, err := opened(ctx, in)
	if err != nil {
		return Overview{}, err
	}
	a, err := c.ask(ctx, query{Op: opOverview})
	if err != nil {
		return Overview{}, c.offline(err)
	}
	if !a.OK || a.Overview == nil {
		return Overview{}, refusal(a)
	}
	return *a.Overview, nil
}
