package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/sealed"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// attempts holds the parts that the attempts of one lease share.
type attempts struct {
	lease    context.Context
	handlers *Registry
	objects  *objects
	sealer   *sealed.Sealer
	put      func(message any) // gives the loop a message

	namespace string
	patience  time.Duration // after the end of its context a handler that continues is reported
	emit      func(event.Event)
	meta      func() event.Meta
}

// Messages of an attempt to the loop.
type (
	// returned is the result of an attempt whose handler has returned.
	returned struct {
		x       *execution
		finding frame.Finding
	}
	// progressed notes that a handler has reported its progress.
	progressed struct{ x *execution }
)

// execution is one attempt whose handler runs.
type execution struct {
	*attempts
	id      string
	kind    string
	attempt tasks.Attempt
	weight  int // slots that it takes
	began   time.Time

	// cancelled ends when no report of the attempt counts any more: its session is lost, its task
	// has ended, or its handler has returned. The handler's ctx ends then too, and also when the
	// worker shuts down.
	cancelled cancellation
	ctx       context.Context
	cancel    context.CancelCauseFunc
	release   func() bool // lets go of the lease's context
	progress  progress
	reporting

	mu       sync.Mutex
	over     bool
	outlived bool // its session is lost: its result is discarded
}

func (x *execution) run(h Handler, input []byte, run bridge.TaskRun, b attemptBounds) {
	ctx, done := b.limit(x.ctx)
	left := x.watch(ctx)
	f := frame.Finding{Verb: tasks.Failed, Data: goexitFailure} // unless it returns
	defer func() {
		if v := recover(); v != nil { // of the handler, the codec, or whatever else is called here
			stack := debug.Stack()
			f = attemptResult(ctx, nil, &panicError{v, stack})
			x.panicked(v, stack)
		}
		left()
		if errors.Is(context.Cause(ctx), taskerr.ErrTaskExpired) { // whatever it returned
			f = frame.Finding{Verb: tasks.Overdue}
		}
		done()
		x.release()
		x.lose(taskerr.ErrAttemptEnded)
		f.ID, f.Attempt, f.Ran = x.id, x.attempt, int64(time.Since(x.began))
		x.finish(f)
	}()
	data, err := x.openly(ctx, h, input, run)
	if err == nil && len(data) > x.objects.inline() {
		f = x.objects.finding(ctx, x.ctx, x.id, x.attempt, data, b.retention)
		return
	}
	f = attemptResult(ctx, data, err)
}

// openly runs a handler on what was sealed, and seals its output. An input that this worker cannot
// open is left to others; one that was changed cannot be opened by any.
func (x *execution) openly(ctx context.Context, h Handler, input []byte, run bridge.TaskRun) ([]byte, error) {
	input, err := x.sealer.Open(sealed.Input, x.id, input)
	if err == nil && len(run.Checkpoint) > 0 {
		run.Checkpoint, err = x.sealer.Open(sealed.Checkpoint, x.id, run.Checkpoint)
	}
	if err != nil && errors.Is(err, taskerr.ErrTampered) {
		return nil, taskerr.Permanent(err)
	}
	if err != nil {
		return nil, taskerr.Undecodable(err)
	}
	data, err := h(ctx, input, run)
	if err != nil {
		return nil, err
	}
	return x.sealer.Seal(sealed.Output, x.id, data)
}

// lose cancels the attempt, and the handler's context with it.
func (x *execution) lose(cause error) {
	x.cancelled.end(cause)
	x.cancel(cause)
}

// leaseOver cancels the handler when the lease is lost, whatever the loop waits for at that moment.
// While the session is being closed, handlers continue, and the loop ends them.
func (x *execution) leaseOver() {
	if !errors.Is(context.Cause(x.lease), election.ErrClosed) {
		x.abandon()
	}
}

// abandon cancels a handler whose session is lost.
func (x *execution) abandon() {
	x.lose(taskerr.ErrSessionLost)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && !x.outlived {
		x.outlived = true
		x.handlers.block(x.id, x.weight)
	}
}

func (x *execution) finish(f frame.Finding) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	if x.outlived {
		x.handlers.block(x.id, -x.weight)
		return
	}
	x.put(returned{x, f})
}

// attemptBounds are the bounds of an attempt, as its task sets them.
type attemptBounds struct {
	timeout, left time.Duration // 0: none
	retention     time.Duration
}

// limit gives an attempt its timeout or its task's deadline, whichever is earlier.
func (b attemptBounds) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case b.timeout > 0 && (b.left <= 0 || b.timeout < b.left):
		return context.WithTimeoutCause(ctx, b.timeout, fmt.Errorf("%w of %v", taskerr.ErrTimeout, b.timeout))
	case b.left > 0:
		return context.WithTimeoutCause(ctx, b.left, taskerr.ErrStoppedByDeadline)
	default:
		return ctx, func() {}
	}
}

// Progress is the handler's side: it takes the handler's report, and waits for a checkpoint to be
// stored.
func (x *execution) Progress(ctx context.Context, fraction float64, checkpoint []byte) error {
	if err := x.cancelled.ended(); err != nil {
		return err
	}
	if len(checkpoint) > 0 {
		var err error
		if checkpoint, err = x.sealer.Seal(sealed.Checkpoint, x.id, checkpoint); err != nil {
			return err
		}
		if most := record.MaxCheckpoint + record.MaxSealing; len(checkpoint) > most {
			return fmt.Errorf("%w: %d bytes when it is sealed, the limit is %d", taskerr.ErrCheckpointTooLarge,
				len(checkpoint), most)
		}
	}
	done, tell := x.progress.say(fraction, checkpoint)
	if tell {
		x.put(progressed{x})
	}
	if checkpoint == nil {
		return nil
	}
	defer x.progress.leave(done)
	select {
	case err := <-done:
		return err
	case <-x.cancelled.done():
		return x.cancelled.ended()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
