package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// panicError is a panic of an attempt: of its handler, or of what is called around it.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// errGoexit is the failure of a handler that ends its goroutine, as FailNow of package testing
// does.
var errGoexit = errors.New("the handler has ended its goroutine (runtime.Goexit): return an error")

var goexitFailure = record.EncodeFailure(errGoexit.Error(), "")

// attemptResult is the worker's report of an attempt that has returned err, or data. (The report of
// an attempt that is dropped goes nowhere.) An error whose methods panic, such as a nil pointer to
// an error type, is a failure.
func attemptResult(ctx context.Context, data []byte, err error) (f frame.Finding) {
	if err == nil {
		return frame.Finding{Verb: tasks.Succeeded, Data: data}
	}
	defer func() {
		if v := recover(); v != nil {
			text := fmt.Sprintf("the handler has returned an error of type %T that cannot be read: panic: %v", err, v)
			f = frame.Finding{Verb: tasks.Failed, Data: record.EncodeFailure(text, string(debug.Stack()))}
		}
	}()
	f = frame.Finding{Verb: tasks.Failed}
	switch taskerr.EndOf(ctx, err) {
	case taskerr.EndReleased:
		return frame.Finding{Verb: tasks.Released}
	case taskerr.EndSnoozed:
		return frame.Finding{Verb: tasks.Snoozed, Delay: int64(taskerr.Wait(err))}
	case taskerr.EndUndecodable:
		f.Verb = tasks.Undecodable
	case taskerr.EndPermanent:
		f.Verb = tasks.Permanent
	case taskerr.EndFailed:
		f.Delay = int64(taskerr.Wait(err))
	}
	text, stack := err.Error(), ""
	var panicked *panicError
	if errors.As(err, &panicked) {
		stack = string(panicked.stack)
	}
	if cause := context.Cause(ctx); errors.Is(cause, taskerr.ErrTimeout) && !errors.Is(err, taskerr.ErrTimeout) {
		text = cause.Error() + ": " + text
	}
	f.Data = record.EncodeFailure(text, stack)
	return f
}
