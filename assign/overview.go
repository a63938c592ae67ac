package assign

import (
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/control"
)

// Overview is the state of the scheduler in numbers: its tasks by kind, and its workers.
type Overview struct {
	// Scheduler is the instance that leads the role, in the term of Epoch. Ready says that it hands
	// out tasks.
	Scheduler string `json:"scheduler"`
	Epoch     uint64 `json:"epoch"`
	Ready     bool   `json:"ready"`
	// Trouble says what keeps the scheduler from storing outcomes, and what to do about it. ""
	// means no trouble.
	Trouble string           `json:"trouble,omitempty"`
	Kinds   []KindOverview   `json:"kinds"`
	Workers []WorkerOverview `json:"workers"`
	// Omitted is how many workers are left out, because the answer would otherwise be larger than a
	// message may be.
	Omitted int `json:"omitted,omitempty"`
}

// KindOverview is one kind that has open tasks, or is paused.
type KindOverview struct {
	Kind string `json:"kind"`
	// Waiting tasks are due, Delayed tasks are not due yet (delayed and retrying), Running tasks
	// are with a worker.
	Waiting int  `json:"waiting"`
	Delayed int  `json:"delayed"`
	Running int  `json:"running"`
	Paused  bool `json:"paused,omitempty"`
	// Concurrency and Rate are the limits of the kind's newest submission, 0 for none.
	Concurrency int     `json:"concurrency,omitempty"`
	Rate        float64 `json:"rate,omitempty"`
	// Reasons counts the waiting tasks by the reason why they wait. Tasks that are about to be
	// handed out are not among them.
	Reasons map[Reason]int `json:"reasons,omitempty"`
}

// WorkerOverview is one worker.
type WorkerOverview struct {
	Instance string `json:"instance"`
	// Session is 0 for an instance that is drained and takes no part.
	Session uint64 `json:"session"`
	// Load is how many of the worker's slots are taken.
	Slots int `json:"slots"`
	Load  int `json:"load"`
	// Draining says that the worker shuts down. Drained says that DrainWorker keeps tasks from it.
	Draining bool `json:"draining,omitempty"`
	Drained  bool `json:"drained,omitempty"`
	// Unreachable says that the worker lives, and that messages of the scheduler do not reach it.
	// It is given nothing until it answers. See ErrUnreachable.
	Unreachable bool              `json:"unreachable,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Kinds       []string          `json:"kinds"`
}

// GetOverview asks the scheduler how many tasks of each kind are open, and which workers exist.
// Errors: ErrNoScheduler, ErrNoClient, ErrClosed, the connection's, ctx's.
func GetOverview(ctx context.Context, in Submitter) (Overview, error) {
	c, err := clientOf(ctx, in)
	if err != nil {
		return Overview{}, err
	}
	o, err := c.Overview(ctx)
	if err != nil {
		return Overview{}, err
	}
	return overviewFrom(o), nil
}

// overviewFrom is an overview for users.
func overviewFrom(o *control.Overview) Overview {
	all := Overview{Scheduler: o.Scheduler, Epoch: o.Epoch, Ready: o.Ready, Trouble: o.Trouble, Omitted: o.Omitted}
	if o.Kinds != nil {
		all.Kinds = make([]KindOverview, 0, len(o.Kinds))
	}
	for _, k := range o.Kinds {
		all.Kinds = append(all.Kinds, KindOverview{
			Kind: k.Kind, Waiting: k.Waiting, Delayed: k.Delayed, Running: k.Running, Paused: k.Paused,
			Concurrency: k.Concurrency, Rate: k.Rate,
			Reasons: reasonsFrom(k.Reasons),
		})
	}
	if o.Workers != nil {
		all.Workers = make([]WorkerOverview, 0, len(o.Workers))
	}
	for _, w := range o.Workers {
		all.Workers = append(all.Workers, WorkerOverview(w))
	}
	return all
}
