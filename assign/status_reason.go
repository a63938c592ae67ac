package assign

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// Reason says why a pending task is not with a worker. It is "" for the task that is next, and for
// a task that is not pending. Only the scheduler knows.
type Reason string

const (
	// ReasonStarting: the scheduler does not hand out tasks yet, because it is still finding out
	// what runs.
	ReasonStarting = Reason(tasks.ReasonStarting)
	// ReasonPaused: the task's kind is paused; see ResumeKind.
	ReasonPaused = Reason(tasks.ReasonPaused)
	// ReasonNoWorker: no worker handles the task's kind.
	ReasonNoWorker = Reason(tasks.ReasonNoWorker)
	// ReasonLabels: no worker that handles the task's kind has its labels.
	ReasonLabels = Reason(tasks.ReasonLabels)
	// ReasonSlots: no such worker has as many slots as the task takes, even when it runs nothing
	// else.
	ReasonSlots = Reason(tasks.ReasonSlots)
	// ReasonDrained: the workers that could take the task are drained (see UndrainWorker), or are
	// leaving.
	ReasonDrained = Reason(tasks.ReasonDrained)
	// ReasonUnreachable: the workers that could take the task do not listen to the scheduler.
	ReasonUnreachable = Reason(tasks.ReasonUnreachable)
	// ReasonConcurrency: as many tasks of the kind run as its Concurrency allows.
	ReasonConcurrency = Reason(tasks.ReasonConcurrency)
	// ReasonAfter: a task that it waits for has not ended. See After.
	ReasonAfter = Reason(tasks.ReasonAfter)
	// ReasonKeyLimit: as many tasks of the limit key run as KeyLimit allows.
	ReasonKeyLimit = Reason(tasks.ReasonKeyLimit)
	// ReasonRate: the kind's Rate does not allow another task yet.
	ReasonRate = Reason(tasks.ReasonRate)
	// ReasonUndecodable: every worker that could take the task has rejected its input, which it
	// cannot decode. A worker of another build is awaited.
	ReasonUndecodable = Reason(tasks.ReasonUndecodable)
	// ReasonSuspect: the task's worker was lost, and the task is tried apart from others that ran
	// there. See CrashBudget.
	ReasonSuspect = Reason(tasks.ReasonSuspect)
	// ReasonBusy: the workers that could take the task have no free slot, or too few.
	ReasonBusy = Reason(tasks.ReasonBusy)
	// ReasonReserved: the workers that have free slots are given nothing else, since a suspect runs
	// there alone, or has to be taken for running there. See CrashBudget.
	ReasonReserved = Reason(tasks.ReasonReserved)
	// ReasonPlacement: the configured Placement lets the task wait, or a task before it.
	ReasonPlacement = Reason(tasks.ReasonPlacement)
)

// reasonsFrom are the reasons of an overview, nil for none.
func reasonsFrom(all map[tasks.Reason]int) map[Reason]int {
	if len(all) == 0 {
		return nil
	}
	counts := make(map[Reason]int, len(all))
	for why, n := range all {
		counts[Reason(why)] = n
	}
	return counts
}
