package assign

import (
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/client"
)

// EventType says what has happened to a task.
type EventType string

const (
	// EventSubmitted: the task is stored. It comes first, unless the task has ended when the watch
	// begins.
	EventSubmitted = EventType(client.EventSubmitted)
	// EventRunning: a worker has the task.
	EventRunning = EventType(client.EventRunning)
	// EventProgress: the attempt has reported how far it is.
	EventProgress = EventType(client.EventProgress)
	// EventRetrying: an attempt has ended, and there will be another one.
	EventRetrying = EventType(client.EventRetrying)
	// EventEnded: the task's outcome is stored. It is the last event.
	EventEnded = EventType(client.EventEnded)
)

// TaskEvent is something that has happened to a task, with the task's status then.
type TaskEvent struct {
	Type EventType  `json:"type"`
	Task TaskStatus `json:"task"`
}

// Events tells what happens to the task from now on. The channel is closed when the task has ended
// or ctx ends. The last event, EventEnded, is always delivered. Others may be missing: while nobody
// leads, when another scheduler takes over, when the connection is lost, when the receiver is slow.
// The channel is closed without a last event when ctx ends, the client is closed, or there is no
// record of the task any more.
//
// End ctx when the receiver stops receiving: nothing is left behind then. Errors: ErrTaskNotFound,
// ErrInvalidID, ErrClosed, the connection's, ctx's.
func (p *Pending[Out]) Events(ctx context.Context) (<-chan TaskEvent, error) {
	c, err := clientOfTask(ctx, p.from, p.handle.ID())
	if err != nil {
		return nil, err
	}
	return client.Watch(ctx, c, p.handle.ID(), func(happened client.EventType, s *client.Status) TaskEvent {
		return TaskEvent{EventType(happened), statusFrom(s)}
	})
}
