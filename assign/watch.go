package assign

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// EventType is what has happened to a task.
type EventType string

const (
	// EventSubmitted: it is stored. It comes first, unless the task has ended when the watching begins.
	EventSubmitted EventType = "submitted"
	// EventRunning: a worker has it.
	EventRunning EventType = "running"
	// EventProgress: the attempt has reported how far it is.
	EventProgress EventType = "progress"
	// EventRetrying: an attempt has ended, and there will be another one.
	EventRetrying EventType = "retrying"
	// EventEnded: its outcome is stored. It is the last one.
	EventEnded EventType = "ended"
)

// TaskEvent is something that has happened to a task, and where the task is then.
type TaskEvent struct {
	Type EventType  `json:"type"`
	Task TaskStatus `json:"task"`
}

const (
	// watchRenew is how often the scheduler is asked to go on, watchAgain how soon when none has answered.
	watchRenew = watchFor / 3
	watchAgain = time.Second
	// maxEvents is how many events wait for a slow receiver; then the oldest are dropped.
	maxEvents = 64
)

// Events tells what happens to the task from now on, until it has ended or ctx ends; then the channel is closed. The last
// event, that the task has ended, is always delivered. Others may be missing: while nobody leads, when another scheduler takes
// over, when the connection is lost, when the receiver is slow. The channel is closed without a last event when ctx ends, the
// client is closed, or nothing is known of the task any more.
//
// ctx is to be ended by who stops receiving: nothing is left behind then. Errors: ErrTaskNotFound, ErrInvalidID, ErrClosed,
// the connection's, ctx's.
func (p *pending) Events(ctx context.Context) (<-chan TaskEvent, error) {
	c, l, err := p.client(ctx)
	if err != nil {
		return nil, err
	}
	w := &watching{
		c: c, id: p.id, inbox: c.nc.NewInbox(), heard: make(chan *nats.Msg, maxEvents), ended: make(chan *outcome, 1),
		out: make(chan TaskEvent),
	}
	// The scheduler's answers and its events go through one channel, so that they come in the order in which it sent them.
	for _, subject := range []string{c.sub.event(p.id), w.inbox} {
		sub, err := c.nc.ChanSubscribe(subject, w.heard)
		if err != nil {
			w.unsubscribe()
			return nil, failed(c.offline(err), "watch %s", p.id)
		}
		w.subs = append(w.subs, sub)
	}
	if err := w.begin(ctx, l); err != nil {
		w.unsubscribe()
		return nil, err
	}
	select {
	case c.opening <- struct{}{}: // the client is not closed before this is released, and joins what it has
		l.wg.Go(func() { w.run(ctx) })
		<-c.opening
		return w.out, nil
	case <-c.closed:
		w.unsubscribe()
		return nil, ErrClosed
	}
}

// watching is one task that is watched: a goroutine that owns what was seen, and one that waits for the outcome, which it
// joins.
type watching struct {
	c     *Client
	id    string
	inbox string // of the scheduler's answers
	subs  []*nats.Subscription
	heard chan *nats.Msg
	ended chan *outcome // size 1: one comes, nil when the task cannot be waited for
	out   chan TaskEvent

	last  TaskStatus
	queue []TaskEvent
	over  bool // the last event is in the queue
}

// begin reads where the task is by its record.
func (w *watching) begin(ctx context.Context, l *line) error {
	o, e, err := w.c.read(ctx, l, w.id)
	if err != nil {
		return err
	}
	if o != nil {
		w.see(endedStatus(w.id, o, &e))
		return nil
	}
	st, err := openStatus(w.id, &e)
	if err != nil {
		return err
	}
	w.see(st)
	return nil
}

func (w *watching) unsubscribe() {
	for _, s := range w.subs {
		_ = s.Unsubscribe() // fails only when the connection is closed
	}
}

func (w *watching) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		o, err := (&pending{from: w.c, id: w.id}).wait(ctx)
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
		var out chan TaskEvent
		var next TaskEvent
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
		case <-w.c.closed: // whoever closes it waits for us, and perhaps nobody receives
			return
		case <-ctx.Done():
			return
		}
	}
}

// ask asks the scheduler to tell what happens to the task for a while.
func (w *watching) ask() {
	if data, err := json.Marshal(query{Op: opWatch, ID: w.id}); err == nil {
		_ = w.c.nc.PublishRequest(w.c.sub.ctl(), w.inbox, data) // it is asked again
	}
}

// hear takes an event or an answer of the scheduler; false when it is to be asked again soon. That the task has ended is told by
// its outcome alone, which is stored then.
func (w *watching) hear(m *nats.Msg) bool {
	if m.Subject != w.inbox {
		var st TaskStatus
		if err := json.Unmarshal(m.Data, &st); err == nil && st.ID == w.id && !st.State.Terminal() {
			w.see(st)
		}
		return true
	}
	a, err := readAnswer(m.Data)
	if err != nil || !a.OK {
		return false // nobody leads
	}
	if a.Task != nil && a.Task.ID == w.id && !a.Task.State.Terminal() {
		w.see(*a.Task)
	}
	return true
}

// see takes where the task is now, and queues what that says has happened. What the submitter has said stays as it was read.
func (w *watching) see(st TaskStatus) {
	before := w.last
	st.Progress = roundProgress(st.Progress)
	kind, news := eventOf(&before, &st)
	if !news || w.over {
		return
	}
	if before.ID != "" {
		st.Kind, st.Priority, st.TraceParent, st.Keys, st.Headers = before.Kind, before.Priority, before.TraceParent, before.Keys, before.Headers
		if !st.State.Terminal() {
			st.Submitted = before.Submitted
		}
	}
	w.last, w.over = st, kind == EventEnded
	if len(w.queue) == maxEvents {
		w.queue = w.queue[1:]
	}
	w.queue = append(w.queue, TaskEvent{kind, st})
}

// eventOf is what has happened between two looks at a task; before has no id at the first.
func eventOf(before, now *TaskStatus) (kind EventType, news bool) {
	again := before.ID != "" && before.State == now.State && before.Attempts == now.Attempts
	switch {
	case now.State.Terminal():
		return EventEnded, true
	case now.State == StateRunning && (now.Worker == "" || before.State == StateRunning && now.Attempts < before.Attempts):
		return "", false // the attempt is over, and its end is being stored
	case now.State == StateRunning:
		if !again || before.Worker != now.Worker {
			return EventRunning, true
		}
		return EventProgress, now.Progress > 0 && before.Progress != now.Progress
	case before.State == StateRunning, now.State == StateRetrying, before.Attempts > 0:
		return EventRetrying, before.State == StateRunning || before.Attempts != now.Attempts
	}
	return EventSubmitted, before.ID == ""
}
