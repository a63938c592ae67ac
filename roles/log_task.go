package roles

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/rolemanager/rolemanager/event"
)

// describeTask keeps the single task at Debug: there are thousands a second.
func describeTask(e event.Event) (line, bool) {
	switch e := e.(type) {
	case event.TaskSubmitted:
		return at(zap.DebugLevel, "task submitted", task(e.Namespace, e.Kind)...), true
	case event.TaskAssigned:
		return at(zap.DebugLevel, "task assigned", task(e.Namespace, e.Kind, zap.String("worker", e.Worker), zap.Duration("wait", e.Wait))...), true
	case event.TaskRejected:
		return at(zap.DebugLevel, "task rejected", task(e.Namespace, e.Kind, zap.String("worker", e.Worker), zap.String("reason", e.Reason))...), true
	case event.TaskCompleted:
		return at(zap.DebugLevel, "task completed", task(e.Namespace, e.Kind, zap.String("outcome", e.Outcome), zap.Duration("run", e.Run),
			zap.Int("attempts", e.Attempts))...), true
	case event.TaskReassigned:
		return at(zap.DebugLevel, "task reassigned", task(e.Namespace, e.Kind, zap.String("cause", e.Cause))...), true
	case event.TaskStale:
		return at(zap.DebugLevel, "stale report refused", task(e.Namespace, e.Kind, zap.String("reason", e.Reason))...), true
	case event.TaskFenced:
		return at(zap.WarnLevel, "the server refused a write of this scheduler: a later one has taken over",
			zap.String("namespace", e.Namespace), zap.String("op", e.Op)), true
	case event.TaskRecovered:
		return at(zap.InfoLevel, "scheduler has its books", zap.String("namespace", e.Namespace), zap.Int("open", e.Open),
			zap.Int("adopted", e.Adopted), zap.Duration("took", e.Took)), true
	case event.TaskProgress:
		return at(zap.DebugLevel, "progress of tasks", zap.String("namespace", e.Namespace), zap.Int("reports", e.Reports),
			zap.Int("checkpoints", e.Checkpoints)), true
	case event.TaskTicked:
		level := zap.DebugLevel
		if e.Dropped > 0 {
			level = zap.InfoLevel
		}
		return at(level, "recurrence was due", zap.String("namespace", e.Namespace), zap.String("recurrence", e.Recurrence),
			zap.Int("fired", e.Fired), zap.Int("dropped", e.Dropped)), true
	case event.FramesUnverified:
		return at(zap.WarnLevel, "signatures of tasks are not checked: whoever may publish to this worker's subjects can have it run them",
			zap.String("namespace", e.Namespace)), true
	case event.SchedulerMissing:
		return at(zap.WarnLevel, unscheduled(e), zap.String("namespace", e.Namespace), zap.String("role", e.Role),
			zap.String("reason", e.Reason)), true
	case event.TaskGauges:
		return at(zap.DebugLevel, "tasks", zap.String("namespace", e.Namespace), zap.Int("queue", e.Queue),
			zap.Int("in_flight", e.InFlight), zap.Any("slots", e.Slots)), true
	}
	return line{}, false
}

// unscheduled says why tasks wait, and what helps.
func unscheduled(e event.SchedulerMissing) string {
	switch e.Reason {
	case event.SchedulerNoCandidate:
		return fmt.Sprintf("the tasks of namespace %q wait: no process takes part in role %q, whose leader hands them out; "+
			"add a role with the name and the Lead that Assigner.Role returns", e.Namespace, e.Role)
	case event.SchedulerOtherLead:
		return fmt.Sprintf("the tasks of namespace %q wait: this process leads role %q with a Lead that does not hand them out; "+
			"use the name and the Lead that Assigner.Role returns", e.Namespace, e.Role)
	}
	return fmt.Sprintf("the tasks of namespace %q wait: nobody leads role %q, whose leader hands them out; "+
		"start a process that does, or see why none leads with \"rolectl inspect %s\"", e.Namespace, e.Role, e.Role)
}

// frequent are the events of which there may be thousands a second, all at Debug: where nobody reads them, their lines are
// not even made.
func frequent(e event.Event) bool {
	switch e.(type) {
	case event.Heartbeat, event.TaskSubmitted, event.TaskAssigned, event.TaskRejected, event.TaskCompleted, event.TaskReassigned,
		event.TaskStale, event.TaskGauges:
		return true
	}
	return false
}

func task(namespace, kind string, more ...zap.Field) []zap.Field {
	return append([]zap.Field{zap.String("namespace", namespace), zap.String("kind", kind)}, more...)
}
