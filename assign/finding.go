package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// AttemptEnd is how an attempt ends.
type AttemptEnd string

const (
	// EndSucceeded: what was returned is the task's output.
	EndSucceeded AttemptEnd = "succeeded"
	// EndFailed: it counts, and the task is tried again or is dead.
	EndFailed AttemptEnd = "failed"
	// EndPermanent: the task is dead.
	EndPermanent AttemptEnd = "permanent"
	// EndSnoozed: the task is run again later, uncounted.
	EndSnoozed AttemptEnd = "snoozed"
	// EndReleased: the worker shuts down, and the task is given back, uncounted.
	EndReleased AttemptEnd = "released"
	// EndDropped: the session is lost or the task has ended, and nobody hears what was returned.
	EndDropped AttemptEnd = "dropped"
)

// EndOf says how an attempt ends whose handler returns err under ctx. It is for middleware.
func EndOf(ctx context.Context, err error) AttemptEnd {
	var snooze *snoozeError
	var permanent *permanentError
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrSessionLost), errors.Is(cause, ErrStopped):
		return EndDropped
	case err == nil:
		return EndSucceeded
	case errors.Is(cause, ErrDraining):
		return EndReleased
	case errors.As(err, &snooze):
		return EndSnoozed
	case errors.As(err, &permanent):
		return EndPermanent
	}
	return EndFailed
}

// panicError is a panic of a handler.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// errGoexit is what becomes of a handler that ends its goroutine, as FailNow of package testing does.
var errGoexit = errors.New("the handler has ended its goroutine (runtime.Goexit): return an error")

var goexitFailure = encodeFailure(errGoexit.Error(), "")

// call runs a handler; a panic goes no further.
func call(ctx context.Context, h HandlerFunc, t *Task[[]byte]) (data []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			data, err = nil, &panicError{v, debug.Stack()}
		}
	}()
	return h(ctx, t)
}

// finding is what a worker reports of an attempt that has returned err, or data. (What is reported of one that is dropped
// goes nowhere.) An error whose methods panic, such as a nil pointer to one, is a failure.
func finding(ctx context.Context, data []byte, err error) (f tasks.Finding) {
	if err == nil {
		return tasks.Finding{Verb: tasks.Succeeded, Data: data}
	}
	defer func() {
		if v := recover(); v != nil {
			text := fmt.Sprintf("the handler has returned an error of type %T that cannot be read: panic: %v", err, v)
			f = tasks.Finding{Verb: tasks.Failed, Data: encodeFailure(text, string(debug.Stack()))}
		}
	}()
	f = tasks.Finding{Verb: tasks.Failed}
	switch EndOf(ctx, err) {
	case EndReleased:
		return tasks.Finding{Verb: tasks.Released}
	case EndSnoozed:
		var snooze *snoozeError
		errors.As(err, &snooze)
		return tasks.Finding{Verb: tasks.Snoozed, Delay: int64(snooze.after)}
	case EndPermanent:
		f.Verb = tasks.Permanent
	case EndFailed:
		var retry *retryError
		if errors.As(err, &retry) {
			f.Delay = int64(retry.after)
		}
	}
	text, stack := err.Error(), ""
	var panicked *panicError
	if errors.As(err, &panicked) {
		stack = string(panicked.stack)
	}
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) && !errors.Is(err, ErrTimeout) {
		text = cause.Error() + ": " + text
	}
	f.Data = encodeFailure(text, stack)
	return f
}

// maxText bounds what is kept of an error's text and of a stack, in bytes.
const maxText = 8 << 10

// encodeFailure makes a failure's record, no longer than what a header of the outcome may be: JSON writes some bytes as six.
func encodeFailure(text, stack string) []byte {
	for most := maxText; ; most /= 2 {
		data, err := json.Marshal(failureRecord{Error: cut(text, most), Stack: cut(stack, most)})
		if err != nil || len(data) <= maxFailure { // strings can always be encoded
			return data
		}
	}
}

// cut is the beginning of a text.
func cut(text string, most int) string { return text[:min(len(text), most)] }
