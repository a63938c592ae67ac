package client

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// EventType says what has happened to a task. Package assign documents the values.
type EventType string

// The types of events.
const (
	EventSubmitted EventType = "submitted"
	EventRunning   EventType = "running"
	EventProgress  EventType = "progress"
	EventRetrying  EventType = "retrying"
	EventEnded     EventType = "ended"
)

const (
	// watchRenew is how often the scheduler is asked to continue, watchAgain how soon it is asked
	// again if none has answered.
	watchRenew = control.WatchFor / 3
	watchAgain = time.Second
	// maxEvents is how many events wait for a slow receiver. Beyond it the oldest are dropped.
	maxEvents = 64
)

// Watch tells what happens to a task from now on, until it has ended or ctx ends. The function of
// converts each event for the receiver.
func Watch[T any](ctx context.Context, c *Client, id string, of func(EventType, *Status) T) (<-chan T, error) {
	l, err := c.opened(ctx)
	if err != nil {
		return nil, err
	}
	w := &watching[T]{
		c: c, id: id, of: of, inbox: c.nc.NewInbox(), heard: make(chan *nats.Msg, maxEvents),
		ended: make(chan *record.Outcome, 1),
		out:   make(chan T),
	}
	// The scheduler's answers and its events go through one channel, so that they come in the order
	// in which it sent them.
	for _, subject := range []string{c.sub.Event(id), w.inbox} {
		sub, err := c.nc.ChanSubscribe(subject, w.heard)
		if err != nil {
			w.unsubscribe()
			return nil, taskerr.Doing(c.offline(err), "watch %s", id)
		}
		w.subs = append(w.subs, sub)
	}
	if err := w.begin(ctx, l); err != nil {
		w.unsubscribe()
		return nil, err
	}
	select {
	case c.opening <- struct{}{}: // Close waits for the token, and then for this goroutine
		l.wg.Go(func() { w.run(ctx) })
		<-c.opening
		return w.out, nil
	case <-c.closed:
		w.unsubscribe()
		return nil, taskerr.ErrClosed
	}
}

// watching is one task that is watched. It has a goroutine that owns the fields, and one that waits
// for the outcome, which the first one joins.
type watching[T any] struct {
	c     *Client
	id    string
	inbox string // of the scheduler's answers
	subs  []*nats.Subscription
	heard chan *nats.Msg
	ended chan *record.Outcome // size 1: one outcome comes, nil if waiting for the task fails
	of    func(EventType, *Status) T
	out   chan T

	last  Status
	queue []T
	over  bool // the last event is in the queue
}

// begin reads the state of the task from its record.
func (w *watching[T]) begin(ctx context.Context, l *line) error {
	o, e, err := w.c.read(ctx, l, w.id)
	if err != nil {
		return err
	}
	if o != nil {
		w.see(endedStatus(w.id, o, &e.Entry))
		return nil
	}
	st, err := openStatus(w.id, &e.Entry)
	if err != nil {
		return err
	}
	w.see(st)
	return nil
}

func (w *watching[T]) unsubscribe() {
	for _, s := range w.subs {
		_ = s.Unsubscribe() // fails only when the connection is closed
	}
}

func (w *watching[T]) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		o, err := w.c.wait(ctx, Handle{id: w.id})
		if err != nil {
			o = nil
		}
		w.ended <- o
	}()
	defer func() {
		cancel()
		w.unsubscribe()
		<-joined
		close(w.out)
	}()
	renew := time.NewTimer(0)
	defer renew.Stop()
	renewed := w.c.waiters.reconnect()
	for {
		var out chan T
		var next T
		if len(w.queue) > 0 {
			out, next = w.out, w.queue[0]
		} else if w.over {
			return
		}
		select {
		case out <- next:
			w.queue = w.queue[1:]
		case m := <-w.heard:
			if !w.hear(m) {
				renew.Reset(watchAgain)
			}
		case o := <-w.ended:
			if o == nil {
				return
			}
			w.see(endedStatus(w.id, o, &natskv.Entry{Time: time.Now()}))
		case <-renew.C:
			w.ask()
			renew.Reset(watchRenew)
		case <-renewed:
			renewed = w.c.waiters.reconnect()
			renew.Reset(0)
		case <-w.c.closed: // Close waits for this goroutine, and perhaps nobody receives
			return
		case <-ctx.Done():
			return
		}
	}
}

// ask asks the scheduler to tell what happens to the task for a while.
func (w *watching[T]) ask() {
	if data, err := json.Marshal(control.Query{Op: control.OpWatch, ID: w.id}); err == nil {
		_ = w.c.nc.PublishRequest(w.c.sub.Ctl(), w.inbox, data) // it is asked again
	}
}

// hear handles an event or an answer of the scheduler. It returns false if the scheduler is to be
// asked again soon. Only the outcome, which is stored then, tells that the task has ended.
func (w *watching[T]) hear(m *nats.Msg) bool {
	if m.Subject != w.inbox {
		var st control.Task
		if err := json.Unmarshal(m.Data, &st); err == nil && st.ID == w.id && !terminal(st.State) {
			w.see(Status{Task: st})
		}
		return true
	}
	a, err := control.ReadAnswer(m.Data)
	if err != nil || !a.OK {
		return false // nobody leads
	}
	if a.Task != nil && a.Task.ID == w.id && !terminal(a.Task.State) {
		w.see(Status{Task: *a.Task})
	}
	return true
}

// see takes the present state of the task, and queues the event that follows from it. The
// submitter's part stays as it was read.
func (w *watching[T]) see(st Status) {
	before := w.last
	st.Progress = roundProgress(st.Progress)
	kind, news := eventOf(&before, &st)
	if !news || w.over {
		return
	}
	if before.ID != "" {
		st.Kind, st.Priority, st.TraceParent, st.Keys, st.Headers = before.Kind, before.Priority, before.TraceParent,
			before.Keys, before.Headers
		if !terminal(st.State) {
			st.Submitted = before.Submitted
		}
	}
	w.last, w.over = st, kind == EventEnded
	if len(w.queue) == maxEvents {
		w.queue = w.queue[1:]
	}
	w.queue = append(w.queue, w.of(kind, &st))
}

// eventOf is the event between two looks at a task. before has no id at the first look.
func eventOf(before, now *Status) (kind EventType, news bool) {
	again := before.ID != "" && before.State == now.State && before.Attempts == now.Attempts
	switch {
	case terminal(now.State):
		return EventEnded, true
	case now.State == tasks.StateRunning &&
		(now.Worker == "" || before.State == tasks.StateRunning && now.Attempts < before.Attempts):
		return "", false // the attempt is over, and its end is being stored
	case now.State == tasks.StateRunning:
		if !again || before.Worker != now.Worker {
			return EventRunning, true
		}
		return EventProgress, now.Progress > 0 && before.Progress != now.Progress
	case before.State == tasks.StateRunning, now.State == tasks.StateRetrying, before.Attempts > 0:
		return EventRetrying, before.State == tasks.StateRunning || before.Attempts != now.Attempts
	}
	return EventSubmitted, before.ID == ""
}
