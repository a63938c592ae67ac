package natskv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/mailbox"
)

// maxBatch is the most entries that one Update may hold.
const maxBatch = 256

// Update is one delivery of a watch.
type Update struct {
	// Entries follow those of the update before, by increasing revision; at most 256.
	Entries []Entry
	// Snapshot means that the snapshot is complete with these entries: the server had nothing more
	// to send. A key that was overwritten while the snapshot was being sent may be missing from it;
	// its new record then follows, at a later revision than all of these. (The server drops the old
	// record from its count at once, and counts the new one later.) Snapshot is true in exactly one
	// update, whose entries may be empty.
	Snapshot bool
}

// Watch delivers the last record of every matching key, then every later record that is not
// superseded first.
//
// It is a push consumer that numbers its messages. The package reads it without the jetstream
// package's watchers, for three reasons. First, those watchers repair a gap silently, and so they
// forget how long they saw nothing. Here a gap, a foreign message or silence ends the watch, and
// its owner decides. Second, they call the snapshot complete after as many messages as were pending
// at first. That may leave out a key that was overwritten meanwhile while others were added. Here
// the snapshot is complete when the server had nothing more to send. Third, their channel holds 256
// entries, while here a slow receiver makes the server wait.
//
// The server's flow control window (at most 32 MiB) bounds the mailbox.
type Watch struct {
	nc       *nats.Conn
	at       place
	consumer consumer
	in       *mailbox.Mailbox[*nats.Msg]
	out      chan Update
	// replies are flow control subjects to answer: at most one is open at a time.
	replies *mailbox.Mailbox[string]
	// silentFor is how long the watch may be silent before it asks the server whether there is more.
	silentFor time.Duration

	stop context.CancelFunc
	wg   sync.WaitGroup
	err  error // set before out is closed
}

// Watch begins to watch the keys that match the filter, a key with wildcards; "" means all. ctx
// bounds only the beginning, which takes at most 5 s without it. Errors are those of Open, and
// ErrNoLeader.
//
// There is one filter, because a consumer with several is slow in a bucket that has lived: for each
// record the server looks at every subject that matches. With 8,000 subjects that took 16 s, and
// with one filter 60 ms. The permission is $JS.API.CONSUMER.CREATE.KV_<bucket>.*.<subject>, where
// the subject is that of the filter.
func (b *Bucket) Watch(ctx context.Context, nc *nats.Conn, filter string) (*Watch, error) {
	return b.WatchEvery(ctx, nc, filter, idleHeartbeat)
}

// WatchEvery is Watch with heartbeats of the server that often, while it has nothing to deliver.
// When two are missing, and the server has nothing more to send, the watch ends. every is kept
// within 100 ms and 5 s; 0 means 2 s.
func (b *Bucket) WatchEvery(ctx context.Context, nc *nats.Conn, filter string, every time.Duration) (*Watch, error) {
	return watch(ctx, nc, b.place(), filter, 0, every)
}

func watch(ctx context.Context, nc *nats.Conn, at place, filter string, from uint64,
	every time.Duration,
) (*Watch, error) {
	every = min(max(cmp.Or(every, idleHeartbeat), leastHeartbeat), mostHeartbeat)
	w := &Watch{
		nc: nc, at: at,
		in:      mailbox.New[*nats.Msg](),
		out:     make(chan Update),
		replies: mailbox.New[string](),
		// a little more than two heartbeats
		silentFor: 5 * every / 2,
	}
	inbox := nc.NewInbox()
	sub, err := nc.Subscribe(inbox, func(m *nats.Msg) { w.in.Put(m) })
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", at, err)
	}
	sub.SetClosedHandler(func(string) { w.in.Close() })
	if w.consumer, err = createConsumer(ctx, nc, at, inbox, cmp.Or(filter, ">"), from, every); err != nil {
		_ = sub.Unsubscribe() // fails only when the connection is closed, and the subscription with it
		if errors.Is(err, ErrBucketNotFound) || errors.Is(err, ErrJetStreamOff) {
			err = verdict(ctx, nc, at)
		}
		return nil, fmt.Errorf("watch %s: %w", at, err)
	}
	var alive context.Context
	alive, w.stop = context.WithCancel(context.Background())
	w.wg.Go(func() {
		w.err = w.deliver(alive, sub)
		close(w.out)
		w.stop()
	})
	w.wg.Go(func() { w.attend(alive, sub) })
	return w, nil
}

// C returns the channel of updates. It is closed when the watch has ended.
func (w *Watch) C() <-chan Update { return w.out }

// Err is the reason why the watch has ended, once C is closed: nil after Stop and Close,
// ErrWatchLost with its cause, or nats.ErrConnectionClosed.
func (w *Watch) Err() error { return w.err }

// Stop ends the watch and does not wait, not even for a socket that hangs. C is closed soon after;
// entries that have not been received are dropped.
func (w *Watch) Stop() { w.stop() }

// Close is Stop, and then waits until the watch's goroutines have ended and the server has been
// told to remove the consumer. One of the goroutines may hang in the connection until its flush
// deadline. A second call is allowed.
func (w *Watch) Close() {
	w.stop()
	w.wg.Wait()
}

// attend makes the calls on the connection: they may hang, and delivery must not hang with them.
func (w *Watch) attend(alive context.Context, sub *nats.Subscription) {
	var batch []string
	for {
		select {
		case <-alive.Done():
			_ = sub.Unsubscribe()
			_ = w.nc.Publish(w.consumer.deleteSubject(w.at), nil)
			return
		case <-w.replies.Ready():
			batch = w.replies.Drain(batch)
			for _, subject := range batch {
				_ = w.nc.Publish(subject, nil) // if this fails, the server stays silent, which ends the watch
			}
		}
	}
}

// deliver sends updates until the watch is stopped (nil) or has missed something.
func (w *Watch) deliver(alive context.Context, sub *nats.Subscription) error {
	d := delivery{w: w, alive: alive, prefix: w.at.prefix}
	if w.consumer.pending == 0 {
		d.snapshot = true
		if !d.send(Update{Snapshot: true}) {
			return nil
		}
	}
	silence := time.NewTimer(w.silentFor)
	defer silence.Stop()
	var answered <-chan struct{} // not nil while the server is asked, after a silence
	var batch []*nats.Msg
	for {
		silent := false
		select {
		case <-alive.Done():
			return nil
		case <-w.in.Ready():
		case <-silence.C:
			answered = w.ask(alive)
			continue
		case <-answered:
			// asked before the drain: all messages that are not counted there are in the mailbox
			left, _, err := sub.Pending()
			silent = err != nil || left == 0
		}
		closed := w.in.Closed() // also asked before the drain: nothing comes after it
		batch = w.in.Drain(batch)
		if silent && len(batch) == 0 && !closed {
			if !d.heard {
				return w.unheard(sub.Subject)
			}
			return fmt.Errorf("%w: silent for %v, and until the server had answered", ErrWatchLost, w.silentFor)
		}
		stopped, err := d.take(batch)
		clear(batch) // a large batch is not kept until the next message comes
		if stopped || err != nil {
			return err
		}
		if closed {
			return nats.ErrConnectionClosed
		}
		answered = nil
		silence.Reset(w.silentFor)
	}
}

// unheard is the fault of a watch on which nothing has arrived: the server has made its consumer,
// and sends at least heartbeats. JetStream of another account is reached by an import of services,
// which carries requests and their answers. Deliveries need a stream of their own.
func (w *Watch) unheard(inbox string) error {
	first, _, _ := strings.Cut(inbox, ".")
	way := "if this account imports its JetStream"
	if w.at.reach.prefix != "" && w.at.reach.domain == "" {
		way = "where JetStream is imported as " + w.at.reach.prefix
	}
	return fmt.Errorf("%w: silent for %v, and nothing was ever delivered to %s: %s, the account that keeps %s has to "+
		"export the stream %s.>, and this account has to import it", ErrWatchLost, w.silentFor, inbox, way, w.at, first)
}

// ask makes the server answer on this connection, and reports when it has answered, or when that
// has taken too long. The answer comes after everything that was sent on the connection before. So
// a watch that knows nothing more after it is not merely behind, however little time the server or
// this process has had.
func (w *Watch) ask(alive context.Context) (answered <-chan struct{}) {
	done := make(chan struct{})
	w.wg.Go(func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(alive, answerTime)
		defer cancel()
		_ = w.nc.FlushWithContext(ctx)
	})
	return done
}

// delivery turns messages into updates.
type delivery struct {
	w        *Watch
	alive    context.Context
	prefix   string
	heard    bool // something has arrived
	snapshot bool // the snapshot is complete
	idle     int  // heartbeats since the last entry
	number   uint64
	revision uint64
	entries  []Entry
}

// take handles messages in the order in which the server sent them. Messages before an error are
// delivered first.
func (d *delivery) take(batch []*nats.Msg) (stopped bool, err error) {
	d.heard = d.heard || len(batch) > 0
	for i, m := range batch {
		if d.entries == nil {
			d.entries = make([]Entry, 0, min(len(batch)-i, maxBatch))
		}
		if isControl(d.prefix, m) {
			err = d.control(m)
		} else {
			err = d.add(m)
		}
		if err != nil {
			break
		}
	}
	return !d.flush(false), err
}

// add takes an entry. The consumer numbers its deliveries without gaps, so a gap means a loss.
func (d *delivery) add(m *nats.Msg) error {
	e, number, after, err := entry(d.prefix, m)
	switch {
	case err != nil:
		return err
	case number != d.number+1:
		return fmt.Errorf("%w: delivery %d follows %d", ErrWatchLost, number, d.number)
	case e.Revision <= d.revision:
		return fmt.Errorf("%w: revision %d follows %d", ErrWatchLost, e.Revision, d.revision)
	}
	d.number, d.revision, d.idle = number, e.Revision, 0
	d.entries = append(d.entries, e)
	complete := !d.snapshot && after == 0
	if complete || len(d.entries) == maxBatch {
		d.flush(complete)
	}
	return nil
}

// control takes a heartbeat or a flow control request.
func (d *delivery) control(m *nats.Msg) error {
	if m.Reply != "" { // flow control: answered when everything before it has been received
		d.flush(false)
		d.w.replies.Put(m.Reply)
		return nil
	}
	last, err := strconv.ParseUint(m.Header.Get(headerLastDelivery), 10, 64)
	if err != nil {
		return nil // a status that does not concern deliveries
	}
	if last != d.number {
		return fmt.Errorf("%w: the server has delivered %d, received were %d", ErrWatchLost, last, d.number)
	}
	if stalled := m.Header.Get(headerStalled); stalled != "" {
		d.flush(false)
		d.w.replies.Put(stalled)
		return nil
	}
	// The pending count is the server's own bookkeeping. If it never reaches zero, then a server
	// that has been idle twice in a row has had nothing more to send either.
	if d.idle++; d.idle == 2 && !d.snapshot {
		d.flush(true)
	}
	return nil
}

// flush sends the gathered entries. It returns false when the watch was stopped.
func (d *delivery) flush(complete bool) bool {
	if len(d.entries) == 0 && !complete {
		return d.alive.Err() == nil
	}
	u := Update{Entries: d.entries, Snapshot: complete}
	d.entries = nil // they belong to the receiver
	d.snapshot = d.snapshot || complete
	return d.send(u)
}

func (d *delivery) send(u Update) bool {
	select {
	case d.w.out <- u:
		return true
	case <-d.alive.Done():
		return false
	}
}
