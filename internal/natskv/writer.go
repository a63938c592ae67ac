package natskv

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/mailbox"
)

// Writer keeps any number of writes in flight over one connection. Submit puts a write into a
// queue, and a publisher sends it. The replies to all writes come to one inbox.
//
// Each open write is ended once, by the first that removes it from the open writes: the reply, the
// deadline, the error of the publisher, resolve, or Stop.
//
// The writer has no bound of its own. Its callers bound it: at most the writes that they submit
// within a timeout are open at once.
type Writer struct {
	nc    *nats.Conn
	at    place
	inbox string // ends in a dot; the write's number follows
	entry admission

	queue *mailbox.Mailbox[uint64] // numbers of writes to publish, bounded like the open ones
	// earlier wakes keepTime when something is due before the end of its sleep. Size 1: one
	// token is enough.
	earlier chan struct{}
	// doubt wakes resolve. Size 1: a round of resolve is about all open writes at once.
	doubt chan struct{}

	ctx  context.Context // ends at Stop
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex // never held across a callback or a call on the connection
	open   map[uint64]*pending
	due    deadlines
	last   uint64 // number of the last write
	closed bool
}

// pending is an open write.
type pending struct {
	number uint64
	op     Write   // the only one, or the last of a batch
	ops    []Write // all of a batch, nil for a single write
	guard  *Guard  // the only condition of a batch, nil if each write has its own
	done   func(Result)

	deadline  time.Time
	published bool
	unheard   bool  // the server answered that nobody received it
	known     error // the connection's last error before it was published

	slot
}

// NewWriter subscribes an inbox of the writer's own and starts its three goroutines; Stop or Close
// ends them. Errors: PermissionError for the inbox, or the connection's.
func NewWriter(nc *nats.Conn, s Store) (*Writer, error) {
	w := &Writer{
		nc:      nc,
		at:      s.place(),
		inbox:   nc.NewInbox() + ".",
		queue:   mailbox.New[uint64](),
		earlier: make(chan struct{}, 1),
		doubt:   make(chan struct{}, 1),
		open:    make(map[uint64]*pending),
	}
	w.entry.to(s, nc)
	before := nc.LastError()
	replies, err := nc.Subscribe(w.inbox+"*", w.reply)
	if err != nil {
		return nil, fmt.Errorf("subscribe to acknowledgements: %w", err)
	}
	// The flush waits a second at most: if there is no answer now, the writes will report it.
	_ = nc.FlushTimeout(time.Second)
	complaint := nc.LastError()
	if complaint != before {
		if denied := deniedIn(complaint); denied != nil && denied.Subject == replies.Subject {
			_ = replies.Unsubscribe()
			return nil, fmt.Errorf("subscribe to acknowledgements: %w", denied)
		}
	}
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.wg.Go(func() { w.publish(replies) })
	w.wg.Go(w.keepTime)
	w.wg.Go(func() { w.resolve(complaint) })
	return w, nil
}

// Submit queues a write and returns at once. done is called exactly once, from a goroutine of the
// writer (or from Submit itself when the writer has ended or the write is impossible), and must not
// block. If no answer has come after timeout, counted from now, the outcome is Unknown. A write
// that was not published within that time never will be.
func (w *Writer) Submit(op Write, timeout time.Duration, done func(Result)) {
	if err := op.check(); err != nil {
		done(Result{Err: err})
		return
	}
	w.enter(&pending{op: op, done: done}, timeout)
}

// enter adds a write to the open writes and queues it.
func (w *Writer) enter(p *pending, timeout time.Duration) {
	now := time.Now()
	p.deadline = now.Add(timeout)
	// The first thing due is a doubt, well before the deadline: only resolve tells a denied
	// permission from silence.
	p.at = now.Add(min(doubtAfter, timeout/2))

	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		p.done(Result{Err: ErrClosed})
		return
	}
	w.last++
	p.number = w.last
	w.open[p.number] = p
	wake := w.due.add(p)
	w.mu.Unlock()
	if wake {
		token(w.earlier)
	}
	w.queue.Put(p.number)
}

// Stop ends the writer, and all open writes as Unknown with ErrClosed. It calls their done
// functions and waits for nothing else, not even for a socket that hangs. A second call does
// nothing.
func (w *Writer) Stop() {
	w.mu.Lock()
	open := w.open
	w.open = nil
	w.due = deadlines{}
	w.closed = true
	w.mu.Unlock()
	w.stop()
	w.queue.Close()
	for _, p := range open {
		p.done(Result{Err: ErrClosed})
	}
}

// Close is Stop, and then waits until the writer's goroutines have ended. One of them may hang in
// the connection until its flush deadline. done must not call Close.
func (w *Writer) Close() {
	w.Stop()
	w.wg.Wait()
}

// publish is the only goroutine that hands messages to the connection. It also owns the
// subscription.
func (w *Writer) publish(replies *nats.Subscription) {
	// fails only when the connection is closed, and the subscription with it
	defer func() { _ = replies.Unsubscribe() }()
	var batch []uint64
	var l letter
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.queue.Ready():
		}
		batch = w.queue.Drain(batch)
		if err := w.entry.ask(w.ctx, w.nc); err != nil {
			for _, number := range batch {
				w.end(number, Result{Err: err})
			}
			continue
		}
		known := w.nc.LastError()
		for _, number := range batch {
			if p := w.take(number, known); p != nil {
				if err := w.send(&l, p); err != nil {
					w.end(number, Result{Err: err})
				}
			}
		}
		l.end()
	}
}

// send publishes a write.
func (w *Writer) send(l *letter, p *pending) error {
	reply := string(strconv.AppendUint(append(make([]byte, 0, 64), w.inbox...), p.number, 36))
	if p.ops != nil {
		return w.sendBatch(l, p, reply)
	}
	l.begin(&p.op, w.at)
	l.condition(&p.op, w.at)
	l.Reply = reply
	if err := w.nc.PublishMsg(&l.Msg); err != nil {
		return unsent(w.nc, l.Subject, err)
	}
	return nil
}

// take returns a write that is about to be published, nil when it has ended meanwhile. known is the
// connection's last error.
func (w *Writer) take(number uint64, known error) *pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.open[number]
	if p != nil {
		p.published, p.known = true, known
	}
	return p
}

// reply takes the server's answer to one write. It runs in the connection's goroutine for the
// inbox.
func (w *Writer) reply(m *nats.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, w.inbox), 36, 64)
	if err != nil {
		return // not a reply to anything we sent
	}
	if !IsNoResponders(m) {
		w.answer(number, m.Data)
		return
	}
	// Nobody listens on the key's subject: the bucket is gone, or its stream has no leader. The
	// writer finds out in resolve, or the deadline ends it.
	w.mu.Lock()
	p := w.open[number]
	if p != nil {
		p.unheard = true
	}
	w.mu.Unlock()
	if p != nil {
		token(w.doubt)
	}
}

// answer ends a write, unless it has ended, by what the server says.
func (w *Writer) answer(number uint64, data []byte) {
	w.mu.Lock()
	p := w.open[number]
	w.mu.Unlock()
	if p != nil {
		at := w.at
		at.domain = w.entry.answers()
		w.end(number, w.entry.judge(w.nc, w.denied(p, p.outcome(at, data))))
	}
}

// end ends a write, unless it has ended: a reply that comes after the timeout finds nothing.
func (w *Writer) end(number uint64, r Result) {
	w.mu.Lock()
	p := w.open[number]
	if p != nil {
		delete(w.open, number)
		w.due.remove(p)
	}
	w.mu.Unlock()
	if p != nil {
		p.done(r)
	}
}

// token wakes the goroutine that reads c. A token that is already there wakes it too.
func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
