package worker

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/event"
)

// watch reports a handler that has not returned for long after its context has ended: it keeps its
// slots, and nothing else tells why. The caller calls returned when the handler has.
func (x *execution) watch(ctx context.Context) (returned func()) {
	over := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() { // ends when the handler returns, or with the report
		timer := time.NewTimer(x.patience)
		defer timer.Stop()
		select {
		case <-over:
		case <-timer.C:
			x.emit(event.TaskStuck{
				Meta: x.meta(), Namespace: x.namespace, Kind: x.kind, ID: x.id, Cause: context.Cause(ctx), Since: x.patience,
			})
		}
	})
	return func() {
		close(over)
		unwatch()
	}
}

// panicsEvery is how often the panics of one kind's handler are reported as events. Each is in the
// record of its task.
const panicsEvery = time.Minute

// panicked reports a panic of a handler, or of what is called beside it.
func (x *execution) panicked(value any, stack []byte) {
	if x.handlers.reports(x.kind, time.Now()) {
		x.emit(event.CallbackPanicked{Meta: x.meta(), Callback: "handler of " + x.kind, Value: value, Stack: stack})
	}
}

// reports reports whether a panic of a kind's handler is to be reported now.
func (r *Registry) reports(kind string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, is := r.panicked[kind]; is && now.Sub(last) < panicsEvery {
		return false
	}
	r.panicked[kind] = now
	return true
}
