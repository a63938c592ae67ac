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
	Task TaskStatus `json:"task,omitzero"`
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

// EventMissed: some events are missing, which [Events] tells without a task. Another scheduler has
// taken over, the connection was lost, or the receiver is slow.
const EventMissed = EventType(client.EventMissed)

// EventOptions say which events [Events] tells. Every part that is not empty must hold.
type EventOptions struct {
	// States are those that a task comes into.
	States []State
	Kinds  []string
	// Prefix begins the ids.
	Prefix string
	// Headers must be among those of the submission, which is read for each task. A task that ends
	// before that is left out.
	Headers map[string]string
}

// Events tells what happens to all tasks of a namespace from now on: that one is submitted, that a
// worker begins to run it, that an attempt has failed, that it has ended. Progress is not told, see
// [Pending.Events]. The scheduler sends the events, to 16 receivers at most, and an end is told
// when it is stored.
//
// EventMissed takes the place of events that are missing: list the tasks again then. The channel is
// closed when ctx ends, or the client is closed. End ctx when the receiver stops receiving: nothing
// is left behind then. Errors: ErrNoScheduler, ErrInvalidOption, ErrNoClient, ErrClosed, the
// connection's, ctx's.
func Events(ctx context.Context, in Submitter, o EventOptions) (<-chan TaskEvent, error) {
	list := ListOptions{States: o.States, Kinds: o.Kinds, Prefix: o.Prefix, Headers: o.Headers}
	options, err := list.checked()
	if err != nil {
		return nil, err
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return nil, err
	}
	want := client.FeedOptions{
		States: options.States, Kinds: options.Kinds, Prefix: options.Prefix, Headers: options.Headers,
	}
	return client.Feed(ctx, c, want, func(happened client.EventType, s *client.Status) TaskEvent {
		return TaskEvent{EventType(happened), statusFrom(s)}
	})
}
