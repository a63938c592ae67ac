package assign

import (
	"context"
	"fmt"
	"slices"

	"github.com/rolemanager/rolemanager/assign/internal/client"
)

// BulkOptions say which tasks a bulk operation takes: those that [List] would list. Limit is the
// size of a page, which is all that is kept in memory. Cursor is "", or the Next of an operation
// that was interrupted.
type BulkOptions struct {
	ListOptions
	// DryRun only counts the tasks.
	DryRun bool
}

// BulkResult is what a bulk operation has done, also if it returns an error.
type BulkResult struct {
	// Done counts the tasks that it was done to, or would be done to, and Kinds the same by kind.
	Done  int            `json:"done"`
	Kinds map[string]int `json:"kinds"`
	// Skipped counts the tasks with which somebody else has done something in the meantime.
	Skipped int `json:"skipped"`
	// Needed counts the tasks that DeleteAll leaves alone, because open tasks wait for their
	// outcomes. See [ErrTaskNeeded].
	Needed int `json:"needed,omitempty"`
	// Failed counts the others, and Faults names the first 100 of them.
	Failed int         `json:"failed"`
	Faults []BulkFault `json:"faults,omitempty"`
	// Next is the Cursor with which the operation continues, "" when it is complete.
	Next string `json:"next,omitempty"`
}

// BulkFault is a task of a bulk operation, and why it failed.
type BulkFault struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// RequeueAll is [Requeue] for every dead task that o selects. A task that dies again is not
// requeued twice. The operation may be interrupted at any moment and done again, from the start or
// from Next. States is empty or StateDead. Errors: those of [List], ctx's; faults of single tasks
// are in the result.
func RequeueAll(ctx context.Context, in Submitter, o BulkOptions) (BulkResult, error) {
	return bulk(ctx, in, client.RequeueEach, o, StateDead)
}

// DeleteAll is [Delete] for every task that has ended and that o selects, like [RequeueAll]. States
// is empty or has terminal states.
func DeleteAll(ctx context.Context, in Submitter, o BulkOptions) (BulkResult, error) {
	return bulk(ctx, in, client.DeleteEach, o, StateSucceeded, StateDead, StateCancelled, StateExpired, StateSkipped)
}

// CancelAll stores the request to cancel every open task that o selects, like [RequeueAll], and
// does not wait until the tasks have ended. It takes tasks, too, that are submitted while it runs,
// and misses those that the scheduler has not read yet. If another scheduler takes over, the
// operation begins again with what that one lists, also when it continues from Next: no open task
// is left out, and one that has not ended by then counts again. States is empty or has states of
// open tasks. A scheduler must lead, since it lists the open tasks.
func CancelAll(ctx context.Context, in Submitter, o BulkOptions) (BulkResult, error) {
	return bulk(ctx, in, client.CancelEach, o, StatePending, StateDelayed, StateRunning, StateRetrying)
}

func bulk(ctx context.Context, in Submitter, a client.Action, o BulkOptions, states ...State) (BulkResult, error) {
	if len(o.States) == 0 {
		o.States = states
	}
	for _, s := range o.States {
		if !slices.Contains(states, s) {
			return BulkResult{}, fmt.Errorf("%w: States: this cannot be done to a task that is %.220q: use %q",
				ErrInvalidOption, s, states)
		}
	}
	if o.Limit == 0 {
		o.Limit = 500
	}
	options, err := o.checked()
	if err != nil {
		return BulkResult{}, err
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return BulkResult{}, err
	}
	done, err := c.Bulk(ctx, a, options, o.DryRun)
	r := BulkResult{
		Done: done.Done, Kinds: done.Kinds, Skipped: done.Skipped, Needed: done.Needed,
		Failed: done.Failed, Next: done.Next,
	}
	for _, f := range done.Faults {
		r.Faults = append(r.Faults, BulkFault{f.ID, f.Err.Error()})
	}
	return r, err
}
