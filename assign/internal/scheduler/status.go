package scheduler

import (
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// statusOf is the state of a task in the rules, for clients.
func statusOf(g *tasks.TaskInfo, now time.Time) *control.Task {
	s := &control.Task{
		ID: g.ID, Kind: g.Kind, State: g.State, Reason: g.Reason, Attempts: g.Tries, Worker: g.Instance,
		Progress: float64(g.Progress),
		Priority: g.Priority, Submitted: now.Add(-g.Age),
	}
	if g.Due > 0 {
		s.Due = now.Add(g.Due)
	}
	if k := g.Keys; k != nil {
		s.Keys = &control.Keys{Unique: k.Unique, Sticky: k.Sticky, Limit: k.Limit, Fair: k.Fair}
	}
	return s
}

// changedStatus is the state of a task to which something has happened, its end too.
func changedStatus(e *tasks.TaskChanged, now time.Time) *control.Task {
	s := statusOf(&e.Info, now)
	o := e.Outcome
	if o == nil {
		return s
	}
	s.Submitted, s.Due, s.Ended = time.Time{}, time.Time{}, now
	s.Attempts, s.Worker, s.Cause, s.Ran = o.Tries, o.Instance, o.Cause, time.Duration(o.Ran).Truncate(time.Microsecond)
	if s.Progress = 1; o.Status != tasks.StatusSucceeded {
		s.Progress, s.Error = 0, record.ErrorOf(o)
	}
	return s
}

// statusSize is the approximate size of a status in JSON.
func statusSize(s *control.Task) int {
	n := 256 + len(s.ID) + len(s.Kind) + len(s.Worker)
	if s.Keys != nil {
		n += 2 * (len(s.Keys.Unique) + len(s.Keys.Sticky) + len(s.Keys.Limit) + len(s.Keys.Fair))
	}
	return n
}

// overviewOf is the state of all kinds and workers in the rules, for clients.
func overviewOf(v tasks.Overview) *control.Overview {
	o := &control.Overview{
		Epoch: v.Epoch, Ready: v.Ready, Kinds: make([]control.Kind, 0, len(v.Kinds)),
		Workers: make([]control.Worker, 0, len(v.Workers)),
	}
	for _, k := range v.Kinds {
		o.Kinds = append(o.Kinds, control.Kind{
			Kind: k.Kind, Waiting: k.Waiting, Delayed: k.Delayed, Running: k.Running, Paused: k.Paused,
			Concurrency: k.Concurrency, Rate: k.Rate,
			Reasons: k.Reasons,
		})
	}
	for _, w := range v.Workers { // one that was never told of as unreachable may have crashed a moment ago
		o.Workers = append(o.Workers, control.Worker{
			Instance: w.Instance, Session: w.Session, Slots: w.Slots, Load: w.Load, Draining: w.Draining, Drained: w.Drained,
			Unreachable: w.Unreachable && w.Told,
			Labels:      w.Labels,
			Kinds:       append([]string{}, w.Kinds...), // JSON knows no nil slice
		})
	}
	return o
}
