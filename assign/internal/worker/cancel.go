package worker

import (
	"sync"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// life ends once, with a cause. It is what a context would be too, at a fraction of the cost: there is one for every attempt,
// and hardly any is waited for.
type life struct {
	mu    sync.Mutex
	cause error         // nil until it has ended
	over  chan struct{} // made by the first who waits
}

func (l *life) end(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return
	}
	l.cause = cause
	if l.over != nil {
		close(l.over)
	}
}

// ended is the cause, nil while it goes on.
func (l *life) ended() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// done is closed when it has ended.
func (l *life) done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == nil {
		l.over = make(chan struct{})
		if l.cause != nil {
			close(l.over)
		}
	}
	return l.over
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
