package assign

import (
	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Task is one attempt at a task, as its handler sees it.
type Task[In any] struct {
	// Input is what was submitted.
	Input In

	run bridge.TaskRun
}

func init() {
	bridge.FillTask = func(task any, r bridge.TaskRun) { task.(interface{ fill(bridge.TaskRun) }).fill(r) }
}

func (t *Task[In]) fill(r bridge.TaskRun) { t.run = r }

// ID is the id of the task, the same for every attempt.
func (t *Task[In]) ID() string { return t.run.ID }

// Kind is the name of the task's kind.
func (t *Task[In]) Kind() string { return t.run.Kind }

// Attempt counts the attempts that ran, this one included, from 1.
func (t *Task[In]) Attempt() int { return t.run.Attempt }

// Fence is the fencing token of this attempt: send it along with every effect on the outside, and let a [fencing.Guard]
// refuse the attempts before it. Its role is "task/<id>"; it is ordered by the scheduler's epoch and the attempt.
func (t *Task[In]) Fence() fencing.Token { return t.run.Token }

// TraceParent is the W3C traceparent that the task was submitted with, "" for none.
func (t *Task[In]) TraceParent() string { return t.run.Trace }

// fence is the token of an attempt. Its id is random: whoever holds the token was handed it by this worker.
func fence(id, holder string, a tasks.Attempt) fencing.Token {
	return fencing.NewToken("task/"+id, holder, a.Epoch, a.N, uuid.New())
}
