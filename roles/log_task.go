package roles

import (
	"fmt"
	"log/slog"

	"github.com/rolemanager/rolemanager/event"
)

// describeTask logs events of single tasks at Debug, because there may be thousands a second.
func describeTask(e event.Event) (line, bool) {
	switch e := e.(type) {
	case event.TaskSubmitted:
		return at(slog.LevelDebug, "task submitted", task(e.Namespace, e.Kind)...), true
	case event.TaskAssigned:
		return at(slog.LevelDebug, "task assigned", task(e.Namespace, e.Kind, slog.String("worker", e.Worker),
			slog.Duration("wait", e.Wait))...), true
	case event.TaskRejected:
		return at(slog.LevelDebug, "task rejected", task(e.Namespace, e.Kind, slog.String("worker", e.Worker),
			slog.String("reason", e.Reason))...), true
	case event.TaskCompleted:
		return at(slog.LevelDebug, "task completed", task(e.Namespace, e.Kind, slog.String("outcome", e.Outcome),
			slog.Duration("run", e.Run),
			slog.Int("attempts", e.Attempts))...), true
	case event.TaskReassigned:
		return at(slog.LevelDebug, "task reassigned", task(e.Namespace, e.Kind, slog.String("cause", e.Cause))...), true
	case event.TaskStale:
		return at(slog.LevelDebug, "stale report refused", task(e.Namespace, e.Kind, slog.String("reason", e.Reason))...),
			true
	case event.TaskStuck:
		return at(slog.LevelWarn, "the handler of a task has not returned since its context ended, and keeps its slots: "+
			"return when ctx is done", task(e.Namespace, e.Kind, slog.String("task", e.ID), slog.Any("cause", e.Cause),
			slog.Duration("since", e.Since))...), true
	case event.TaskFenced:
		return at(slog.LevelWarn, "the server refused a write of this scheduler: a later one has taken over",
			slog.String("namespace", e.Namespace), slog.String("op", e.Op)), true
	case event.TaskRecovered:
		return at(slog.LevelInfo, "scheduler has its state", slog.String("namespace", e.Namespace), slog.Int("open", e.Open),
			slog.Int("adopted", e.Adopted), slog.Duration("took", e.Took)), true
	case event.TaskProgress:
		return at(slog.LevelDebug, "progress of tasks", slog.String("namespace", e.Namespace), slog.Int("reports", e.Reports),
			slog.Int("checkpoints", e.Checkpoints)), true
	case event.TaskTicked:
		level := slog.LevelDebug
		if e.Dropped+e.Skipped > 0 {
			level = slog.LevelInfo
		}
		return at(level, "recurrence was due", slog.String("namespace", e.Namespace), slog.String("recurrence", e.Recurrence),
			slog.Int("fired", e.Fired), slog.Int("dropped", e.Dropped), slog.Int("skipped", e.Skipped)), true
	case event.FramesUnverified:
		return at(slog.LevelWarn,
			"signatures of tasks are not checked: any client that may publish to this worker's subjects can make it run tasks",
			slog.String("namespace", e.Namespace)), true
	case event.SchedulerMissing:
		return at(slog.LevelWarn, unscheduled(e), slog.String("namespace", e.Namespace), slog.String("role", e.Role),
			slog.String("reason", e.Reason)), true
	case event.TaskGauges:
		return at(slog.LevelDebug, "tasks", slog.String("namespace", e.Namespace), slog.Int("queue", e.Queue),
			slog.Int("in_flight", e.InFlight), slog.Any("slots", e.Slots)), true
	}
	return line{}, false
}

// unscheduled says why tasks wait, and how to fix that.
func unscheduled(e event.SchedulerMissing) string {
	switch e.Reason {
	case event.SchedulerNoCandidate:
		return fmt.Sprintf("the tasks of namespace %q wait: no process takes part in role %q, whose leader hands them out; "+
			"add a role with the name and the Lead that Assigner.Role returns", e.Namespace, e.Role)
	case event.SchedulerOtherLead:
		return fmt.Sprintf(
			"the tasks of namespace %q wait: this process leads role %q with a Lead that does not hand them out; "+
				"use the name and the Lead that Assigner.Role returns", e.Namespace, e.Role)
	}
	return fmt.Sprintf("the tasks of namespace %q wait: nobody leads role %q, whose leader hands them out; "+
		"start a process that does, or see why none leads with \"rolectl inspect %s\"", e.Namespace, e.Role, e.Role)
}

// frequent are the events that may occur thousands of times a second, all at Debug. If Debug is
// off, their lines are not even made.
func frequent(e event.Event) bool {
	switch e.(type) {
	case event.Heartbeat, event.CandidatesChanged, event.TaskSubmitted, event.TaskAssigned, event.TaskRejected,
		event.TaskCompleted, event.TaskReassigned, event.TaskStale, event.TaskGauges:
		return true
	}
	return false
}

func task(namespace, kind string, more ...slog.Attr) []slog.Attr {
	return append([]slog.Attr{slog.String("namespace", namespace), slog.String("kind", kind)}, more...)
}
