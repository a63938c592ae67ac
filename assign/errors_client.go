package assign

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// Errors of those who submit, look and steer.
var (
	// ErrInvalidKind says that a kind cannot be made so: its name, or one of its options.
	ErrInvalidKind = errors.New("assign: invalid kind")
	// ErrInvalidOption says that an option of a submission, a recurrence or a list says what cannot be.
	ErrInvalidOption = errors.New("assign: invalid option")
	// ErrOtherKind says that the task of an id is of another kind than the one that was named: use another id, or its kind.
	ErrOtherKind = errors.New("assign: the task is of another kind")
	// ErrNoClient says that there is nothing to submit to, or to lead: give what NewClient or New has returned.
	ErrNoClient = errors.New("assign: the client is nil, or none: give what NewClient or New has returned")
	// ErrNoScheduler says that nobody leads the role just now, or that its leader does not answer: ask again.
	ErrNoScheduler = errors.New("assign: no scheduler answers: start a process that leads the role, or ask again")
	// ErrCancelPending says that a request to cancel is stored and has not taken effect yet: it does when a scheduler leads.
	ErrCancelPending = errors.New("assign: the request to cancel is stored, and takes effect when a scheduler leads")
	// ErrNotDead says that a task cannot be requeued: only one that is dead can, and only if its input was kept.
	ErrNotDead = errors.New("assign: the task is not dead: only dead tasks can be requeued")
	// ErrKeyTaken says that a task cannot be requeued: another one that is open has its unique key. Wait for that one, or
	// cancel it.
	ErrKeyTaken = errors.New("assign: another open task has the unique key")
	// ErrOutputGone says that a task has succeeded and its output, a large one, is no longer kept: see Config.LargeRetention.
	ErrOutputGone = errors.New("assign: the output is no longer kept: read it sooner, or raise LargeRetention")
	// ErrInvalidSpec says that a recurrence has no such schedule.
	ErrInvalidSpec = errors.New("assign: invalid schedule")
	// ErrInvalidName says that a name cannot be part of a subject.
	ErrInvalidName = errors.New("assign: invalid name: use letters, digits, - _ = / and dots between them, at most 200 bytes")
	// ErrRecurrenceNotFound says that there is no recurrence of that name.
	ErrRecurrenceNotFound = errors.New("assign: recurrence not found")
	// ErrInvalidCursor says that a page was asked for with a cursor that no page has given.
	ErrInvalidCursor = errors.New("assign: invalid cursor: use the Next of the page before")
)

// doing says what was being done when something failed. Its text names the package once.
type doing struct {
	what string
	err  error
}

func (e *doing) Error() string {
	return "assign: " + e.what + ": " + strings.TrimPrefix(e.err.Error(), "assign: ")
}
func (e *doing) Unwrap() error { return e.err }

// failed is err, with what was being done; nil stays nil.
func failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &doing{fmt.Sprintf(format, args...), err}
}

// tooLarge says that something does not fit; fix is what would do.
func tooLarge(what string, size int, most int64, fix string) error {
	return fmt.Errorf("%w: %s of %d bytes, the limit is %d: %s", ErrTooLarge, what, size, most, fix)
}

// offline is err, and that there is no connection if that is why nothing was heard.
func (c *Client) offline(err error) error {
	silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, ErrNoScheduler) ||
		errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrConnectionClosed)
	switch status := soon(c.nc.Status, nats.RECONNECTING); {
	case !silent || errors.Is(err, ErrClosed) || status == nats.CONNECTED:
		return err
	case status == nats.CLOSED:
		return fmt.Errorf("%w: its connection is: %w", ErrClosed, nats.ErrConnectionClosed)
	default:
		return failed(err, "not connected to a server (%v)", strings.ToLower(status.String()))
	}
}
