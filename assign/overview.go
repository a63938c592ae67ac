package assign

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/internal/seconds"
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
	// IdleKinds are kinds of which no task is open, and some have ended during the last 5 to 10
	// minutes. They are left out, too, if the answer would otherwise be too large.
	IdleKinds []IdleKind `json:"idle_kinds,omitempty"`
}

// IdleKind is a kind without open tasks. Waited and Ran are as in KindOverview.
type IdleKind struct {
	Kind   string     `json:"kind"`
	Waited *TaskTimes `json:"waited,omitempty"`
	Ran    *TaskTimes `json:"ran,omitempty"`
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
	// Oldest is the task that has been due for longest and waits, nil for none.
	Oldest *OldestTask `json:"oldest,omitempty"`
	// Waited is for how long tasks had been due when they were handed out, and Ran how long the last
	// attempts of tasks took that have ended: during the last 5 to 10 minutes, as this scheduler has
	// seen it. Nil means none, or a scheduler of an earlier version. Of more than 256 kinds those
	// are kept that were active last.
	Waited *TaskTimes `json:"waited,omitempty"`
	Ran    *TaskTimes `json:"ran,omitempty"`
	// TenantCount is how many keys of [FairBy] have tasks that wait, and Tenants are those with the
	// most, five at most. Tasks that a key limit holds back are not counted. Tenants is empty if the
	// answer would otherwise be larger than a message may be.
	TenantCount int              `json:"tenant_count,omitempty"`
	Tenants     []TenantOverview `json:"tenants,omitempty"`
}

// OldestTask is a task that waits, for how long it has been due, and why no worker has it. Reason
// is "" if it is about to be handed out.
type OldestTask struct {
	ID      string        `json:"id"`
	Waiting time.Duration `json:"-"`
	Reason  Reason        `json:"reason,omitempty"`
}

// TaskTimes sum up the times of Count tasks. The percentiles are right to 7 %.
type TaskTimes struct {
	P50   time.Duration `json:"-"`
	P99   time.Duration `json:"-"`
	Count int           `json:"count"`
}

// TenantOverview is one key of [FairBy], "" for tasks without one.
type TenantOverview struct {
	Key     string `json:"key"`
	Waiting int    `json:"waiting"`
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
	// It is given nothing until it answers. A worker that has crashed is dead before that is said. See
	// ErrUnreachable.
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

func oldestFrom(o *control.Oldest) *OldestTask {
	if o == nil {
		return nil
	}
	return &OldestTask{o.ID, o.Waiting, Reason(o.Reason)}
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
			Reasons: reasonsFrom(k.Reasons), Oldest: oldestFrom(k.Oldest), Waited: (*TaskTimes)(k.Waited),
			Ran: (*TaskTimes)(k.Ran), TenantCount: k.TenantCount,
		})
		last := &all.Kinds[len(all.Kinds)-1]
		for _, t := range k.Tenants {
			last.Tenants = append(last.Tenants, TenantOverview(t))
		}
	}
	for _, k := range o.Idle {
		all.IdleKinds = append(all.IdleKinds, IdleKind{k.Kind, (*TaskTimes)(k.Waited), (*TaskTimes)(k.Ran)})
	}
	if o.Workers != nil {
		all.Workers = make([]WorkerOverview, 0, len(o.Workers))
	}
	for _, w := range o.Workers {
		all.Workers = append(all.Workers, WorkerOverview(w))
	}
	return all
}

// plainOldest has no methods: its fields are encoded beside those in seconds.
type plainOldest OldestTask

// MarshalJSON writes Waiting as the number waiting_seconds.
func (o OldestTask) MarshalJSON() ([]byte, error) { return json.Marshal(o.shape()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (o *OldestTask) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, o.shape()) }

func (o *OldestTask) shape() any {
	return &struct {
		*plainOldest
		Waiting *seconds.Duration `json:"waiting_seconds"`
	}{(*plainOldest)(o), (*seconds.Duration)(&o.Waiting)}
}

// MarshalJSON writes the percentiles as the numbers p50_seconds and p99_seconds.
func (t TaskTimes) MarshalJSON() ([]byte, error) { return json.Marshal(t.shape()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (t *TaskTimes) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, t.shape()) }

func (t *TaskTimes) shape() any {
	return &struct {
		P50   *seconds.Duration `json:"p50_seconds"`
		P99   *seconds.Duration `json:"p99_seconds"`
		Count *int              `json:"count"`
	}{(*seconds.Duration)(&t.P50), (*seconds.Duration)(&t.P99), &t.Count}
}
