package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// handler runs one attempt on encoded input.
type handler func(ctx context.Context, r bridge.TaskRun, input []byte) (output []byte, err error)

// Handle makes this process a worker for a kind: h is called for each attempt, Slots at once at most, each in a goroutine of
// its own. ctx ends with the attempt's timeout, the task's deadline or cancel, the loss of the session and the shut-down; its
// cause says which. h returns then: what it does after the loss of the session is done beside the next attempt, and
// only a guard on [Task.Fence] tells them apart.
//
// An error is a failure, to be tried again with backoff up to the kind's MaxAttempts; see [Permanent], [RetryAfter],
// [Snooze]. So is a panic, with its stack. It may be called before and after the session is opened. Errors: ErrDuplicateKind.
func Handle[In, Out any](a *Assigner, k Kind[In, Out], h func(ctx context.Context, t *Task[In]) (Out, error)) error {
	return a.handle(k.name, func(ctx context.Context, r bridge.TaskRun, input []byte) ([]byte, error) {
		in, err := decode[In](input)
		if err != nil {
			return nil, Permanent(err)
		}
		out, err := h(ctx, &Task[In]{Input: in, run: r})
		if err != nil {
			return nil, err
		}
		data, err := encode(out)
		if err != nil {
			return nil, Permanent(err)
		}
		return data, nil
	})
}

func (a *Assigner) handle(kind string, h handler) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.handlers[kind] != nil {
		return fmt.Errorf("%w: %s", ErrDuplicateKind, kind)
	}
	a.handlers[kind] = h
	select {
	case a.offer <- struct{}{}:
	default:
	}
	return nil
}

func (a *Assigner) kinds() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]string, 0, len(a.handlers))
	for k := range a.handlers {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

func (a *Assigner) handler(kind string) handler {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.handlers[kind]
}

// panicError is a panic of a handler.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// call runs a handler; a panic goes no further.
func call(ctx context.Context, h handler, r bridge.TaskRun, input []byte) (data []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			data, err = nil, &panicError{v, debug.Stack()}
		}
	}()
	return h(ctx, r, input)
}

// maxText bounds what is kept of an error's text and of a stack, in bytes.
const maxText = 8 << 10

// finding is what a worker reports of an attempt that has returned. most is how large an output may be.
func finding(ctx context.Context, data []byte, err error, most int) tasks.Finding {
	var permanent *permanentError
	var retry *retryError
	var snooze *snoozeError
	var panicked *panicError
	f := tasks.Finding{Verb: tasks.Failed}
	stack := ""
	switch {
	case err == nil && len(data) > most:
		f.Verb, err = tasks.Permanent, fmt.Errorf("the output has %d bytes, the limit is %d", len(data), most)
	case err == nil:
		f.Verb, f.Data = tasks.Succeeded, data
		return f
	case errors.Is(context.Cause(ctx), ErrDraining):
		return tasks.Finding{Verb: tasks.Released}
	case errors.As(err, &snooze):
		return tasks.Finding{Verb: tasks.Snoozed, Delay: int64(snooze.after)}
	case errors.As(err, &permanent):
		f.Verb = tasks.Permanent
	case errors.As(err, &retry):
		f.Delay = int64(retry.after)
	}
	if errors.As(err, &panicked) {
		stack = string(panicked.stack[:min(len(panicked.stack), maxText)])
	}
	text := err.Error()
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) && !errors.Is(err, ErrTimeout) {
		text = cause.Error() + ": " + text
	}
	f.Data, _ = json.Marshal(failureRecord{Error: text[:min(len(text), maxText)], Stack: stack}) // strings always can be
	return f
}
