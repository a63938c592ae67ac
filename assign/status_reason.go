package assign

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// Reason says why a task that is pending is with no worker; "" when it is the next one's turn, or the task is not pending.
// Only the scheduler knows.
type Reason string

const (
	// ReasonStarting: the scheduler does not hand out yet, since it is still finding out what runs.
	ReasonStarting = Reason(tasks.ReasonStarting)
	// ReasonPaused: its kind is paused; see ResumeKind.
	ReasonPaused = Reason(tasks.ReasonPaused)
	// ReasonNoWorker: no worker handles its kind.
	ReasonNoWorker = Reason(tasks.ReasonNoWorker)
	// ReasonLabels: no worker that handles its kind has its labels.
	ReasonLabels = Reason(tasks.ReasonLabels)
	// ReasonSlots: no such worker has so many slots, even when it does nothing else.
	ReasonSlots = Reason(tasks.ReasonWeight)
	// ReasonDrained: those that could take it are drained (see UndrainWorker), or are leaving.
	ReasonDrained = Reason(tasks.ReasonDrained)
	// ReasonUnreachable: those that could take it do not listen to the scheduler.
	ReasonUnreachable = Reason(tasks.ReasonUnreachable)
	// ReasonConcurrency: as many tasks of its kind run as its Concurrency allows.
	ReasonConcurrency = Reason(tasks.ReasonConcurrency)
	// ReasonKeyLimit: as many tasks of its limit key run as may.
	ReasonKeyLimit = Reason(tasks.ReasonKeyLimit)
	// ReasonRate: its kind's Rate does not allow another one yet.
	ReasonRate = Reason(tasks.ReasonRate)
	// ReasonBusy: those that could take it have no free slot, or too few.
	ReasonBusy = Reason(tasks.ReasonBusy)
	// ReasonPlacement: the configured Placement lets it wait, or a task before it.
	ReasonPlacement = Reason(tasks.ReasonPlacement)
)

// reasonsFrom are those of an overview, nil for none.
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
