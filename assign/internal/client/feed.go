package client

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// EventMissed says that some events of all tasks are missing.
const EventMissed EventType = "missed"

// FeedOptions say which tasks to follow. Every part that is not empty must hold.
type FeedOptions struct {
	States  []tasks.State
	Kinds   []string
	Prefix  string
	Headers map[string]string
}

const (
	feedRenew = 5 * time.Second
	// maxFed is how many events wait for a slow receiver: beyond it the messages of the scheduler
	// wait, and then are lost, which is noticed.
	maxFed      = 4096
	maxFedParts = 128
	// maxKnown bounds the tasks whose last state is remembered, so that nothing is told twice.
	maxKnown = 1 << 16
)

// Feed tells what happens to all tasks from now on, until ctx ends. The function of converts each
// event for the receiver.
func Feed[T any](ctx context.Context, c *Client, o FeedOptions, of func(EventType, *Status) T) (<-chan T, error) {
	l, err := c.opened(ctx)
	if err != nil {
		return nil, err
	}
	f := &feed[T]{
		c: c, line: l, want: o, of: of, name: nuid.Next(), inbox: c.nc.NewInbox(),
		heard: make(chan *nats.Msg, maxFedParts), out: make(chan T), known: map[string]seenTask{},
	}
	for _, subject := range []string{c.sub.Feed(f.name), f.inbox} {
		sub, err := c.nc.ChanSubscribe(subject, f.heard)
		if err != nil {
			f.unsubscribe()
			return nil, taskerr.Doing(c.offline(err), "follow tasks")
		}
		f.subs = append(f.subs, sub)
	}
	a, err := c.ask(ctx, f.question())
	if err == nil && !a.OK {
		err = refusal(a)
	}
	if err != nil {
		f.unsubscribe()
		return nil, taskerr.Doing(c.offline(err), "follow tasks")
	}
	f.sent = a.Cursor
	select {
	case c.opening <- struct{}{}: // Close waits for the token, and then for this goroutine
		l.wg.Go(func() { f.run(ctx) })
		<-c.opening
		return f.out, nil
	case <-c.closed:
		f.unsubscribe()
		return nil, taskerr.ErrClosed
	}
}

// feed is all tasks as one client follows them. It has a goroutine that owns the fields.
type feed[T any] struct {
	c           *Client
	line        *line
	want        FeedOptions
	of          func(EventType, *Status) T
	name, inbox string
	subs        []*nats.Subscription
	heard       chan *nats.Msg
	out         chan T

	sent  uint64 // messages, by the scheduler's count
	alone bool   // no scheduler answers
	known map[string]seenTask
	queue []T
}

// seenTask is what was last told about an open task.
type seenTask struct {
	state    tasks.State
	attempts int
	worker   string
	unwanted bool
}

func (f *feed[T]) question() control.Query {
	return control.Query{
		Op: control.OpFeed, ID: f.name, Filter: &control.Filter{Kinds: f.want.Kinds, Prefix: f.want.Prefix},
	}
}

func (f *feed[T]) unsubscribe() {
	for _, s := range f.subs {
		_ = s.Unsubscribe() // fails only when the connection is closed
	}
}

func (f *feed[T]) run(ctx context.Context) {
	defer func() {
		f.unsubscribe()
		close(f.out)
	}()
	renew := time.NewTimer(feedRenew)
	defer renew.Stop()
	renewed := f.c.waiters.reconnect()
	for {
		out, in := chan T(nil), f.heard
		var next T
		if len(f.queue) > 0 {
			out, next = f.out, f.queue[0]
		}
		if len(f.queue) >= maxFed {
			in = nil
		}
		select {
		case out <- next:
			f.queue = f.queue[1:]
		case m := <-in:
			if !f.hear(ctx, m) {
				renew.Reset(watchAgain)
			}
		case <-renew.C:
			f.ask()
			renew.Reset(feedRenew)
		case <-renewed:
			renewed = f.c.waiters.reconnect()
			renew.Reset(0)
		case <-f.c.closed: // Close waits for this goroutine, and perhaps nobody receives
			return
		case <-ctx.Done():
			return
		}
	}
}

// ask asks the scheduler to continue.
func (f *feed[T]) ask() {
	if data, err := json.Marshal(f.question()); err == nil {
		_ = f.c.nc.PublishRequest(f.c.sub.Ctl(), f.inbox, data) // it is asked again
	}
}

// hear handles news or an answer of the scheduler. It returns false if the scheduler is to be asked
// again soon.
func (f *feed[T]) hear(ctx context.Context, m *nats.Msg) bool {
	if natskv.IsNoResponders(m) {
		f.alone = true
		return false
	}
	a, err := control.ReadAnswer(m.Data)
	if err != nil || !a.OK {
		return m.Subject != f.inbox // the scheduler does not hand out yet, or has too many to tell
	}
	before := f.sent
	if m.Subject != f.inbox {
		before++
	}
	if a.Cursor != before || f.alone {
		f.tell(EventMissed, &Status{})
	}
	f.sent, f.alone = a.Cursor, false
	list := slices.DeleteFunc(a.Tasks, func(t control.Task) bool { return !naming.Valid(t.ID) })
	wanted := f.wanted(ctx, list)
	for i := range list {
		f.see(Status{Task: list[i]}, wanted[i])
	}
	return true
}

// see takes the present state of a task, and tells what follows from it. wanted counts if nothing
// is known of the task.
func (f *feed[T]) see(st Status, wanted bool) {
	k, known := f.known[st.ID]
	var before Status
	if known {
		before = Status{Task: control.Task{ID: st.ID, State: k.state, Attempts: k.attempts, Worker: k.worker}}
	} else {
		k.unwanted = !wanted
	}
	st.Progress = roundProgress(st.Progress)
	kind, news := eventOf(&before, &st)
	if terminal(st.State) {
		delete(f.known, st.ID)
	} else {
		if len(f.known) >= maxKnown {
			clear(f.known)
		}
		f.known[st.ID] = seenTask{st.State, st.Attempts, st.Worker, k.unwanted}
	}
	if news && !k.unwanted && (len(f.want.States) == 0 || slices.Contains(f.want.States, st.State)) {
		f.tell(kind, &st)
	}
}

// wanted says which tasks have the headers, of those of which nothing is known. The scheduler does
// not know headers, so the submissions are read.
func (f *feed[T]) wanted(ctx context.Context, list []control.Task) []bool {
	wanted, left := make([]bool, len(list)), map[string]bool{}
	var ids []string
	var places []int
	for i := range list {
		id := list[i].ID
		if k, known := f.known[id]; known && !left[id] {
			wanted[i], left[id] = !k.unwanted, terminal(list[i].State) // it may begin again
			continue
		}
		if wanted[i] = len(f.want.Headers) == 0; !wanted[i] {
			ids, places = append(ids, id), append(places, i)
		}
	}
	_ = f.c.tasks(ctx, f.line, ids, func(n int, t found, err error) error { // what cannot be read is not wanted
		wanted[places[n]] = err == nil &&
			includes(record.HeadersOf(record.First(t.Header[record.HeaderMeta])), f.want.Headers)
		return nil
	})
	return wanted
}

func (f *feed[T]) tell(kind EventType, st *Status) { f.queue = append(f.queue, f.of(kind, st)) }
