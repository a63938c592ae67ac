package worker

import (
	"sync"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// cancellation ends an attempt once, with a cause. It does the work of a context at a fraction of
// the cost: every attempt has one, and hardly any is waited for.
type cancellation struct {
	mu    sync.Mutex
	cause error         // nil until the end
	over  chan struct{} // made by the first call of done
}

func (c *cancellation) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	c.cause = cause
	if c.over != nil {
		close(c.over)
	}
}

// ended returns the cause, nil before the end.
func (c *cancellation) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// done returns a channel that is closed at the end.
func (c *cancellation) done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil {
		c.over = make(chan struct{})
		if c.cause != nil {
			close(c.over)
		}
	}
	return c.over
}

// stoppedBy is the cause of the end of an attempt whose task has ended with this status.
func stoppedBy(end tasks.Status) error {
	switch end {
	case tasks.StatusCancelled:
		return taskerr.ErrStoppedByCancel
	case tasks.StatusExpired:
		return taskerr.ErrStoppedByDeadline
	}
	return taskerr.ErrStopped
}
