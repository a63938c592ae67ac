package natskv

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// resolvePause is the least time between two rounds of resolve, so that everybody's retries do
	// not all ask a store that answers nobody. Two rounds fit into the second within which a denied
	// permission must be named.
	resolvePause = 400 * time.Millisecond
	// resolveWithin bounds one question of resolve.
	resolveWithin = 2 * time.Second
)

// resolve finds out why writes get no answer, for all open writes at once. known is the
// connection's last error that is older than the writer.
func (w *Writer) resolve(known error) {
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.doubt:
		}
		if w.nc.Status() == nats.CONNECTED {
			known = w.lookForComplaint(known)
			w.lookForBucket()
		} else if w.nc.IsClosed() {
			w.endAll(func(*pending) bool { return true }, nats.ErrConnectionClosed)
		}
		select {
		case <-w.ctx.Done():
			return
		case <-time.After(resolvePause):
		}
	}
}

// lookForComplaint ends the writes whose subject the server denied. The server sends complaints in
// order with its other answers, so they have arrived after a flush. Only the last complaint can be
// read; an earlier one shows when its write is tried again. It returns the complaint that it has
// seen. Of a batch only the last message is looked for: if another one is denied, the server
// answers.
func (w *Writer) lookForComplaint(known error) error {
	ctx, cancel := context.WithTimeout(w.ctx, resolveWithin)
	defer cancel()
	if err := w.nc.FlushWithContext(ctx); err != nil {
		return known // no round trip: the writes will time out
	}
	last := w.nc.LastError()
	if last == known {
		return known
	}
	if denied := deniedIn(last); denied != nil && !denied.Subscribe {
		w.endAll(func(p *pending) bool { return w.at.reach.Concerns(denied, p.op.subject(w.at)) }, denied)
	}
	return last
}

// lookForBucket ends the writes that nobody received, and distinguishes a bucket that is gone from
// one without a leader.
func (w *Writer) lookForBucket() {
	unheard := func(p *pending) bool { return p.unheard }
	w.mu.Lock()
	any := false
	for _, p := range w.open {
		if any = unheard(p); any {
			break
		}
	}
	w.mu.Unlock()
	if !any {
		return
	}
	w.endAll(unheard, verdict(w.ctx, w.nc, w.at))
}

// endAll ends the open writes that match, as Unknown for this reason.
func (w *Writer) endAll(match func(*pending) bool, err error) {
	var ended []*pending
	w.mu.Lock()
	for number, p := range w.open {
		if match(p) {
			delete(w.open, number)
			w.due.remove(p)
			ended = append(ended, p)
		}
	}
	w.mu.Unlock()
	for _, p := range ended {
		p.done(Result{Err: fmt.Errorf("write %s: %w", p.op.subject(w.at), err)})
	}
}
