package client

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// maxWaiters is how many tasks a client listens for before anybody waits for them. A caller that
// waits for a task beyond them reads first.
const maxWaiters = 1 << 16

// The times between two readings of a caller that waits. Nearly no announcement is lost.
const (
	readAfter  = time.Second
	readAtMost = 30 * time.Second
)

// waiters are the tasks whose outcome a client listens for.
type waiters struct {
	mu      sync.Mutex
	open    map[string]*waiter
	renewed chan struct{} // closed, and replaced, when every waiter has to look again
	closed  bool          // the client is
}

// waiter is one task. It leaves the map when its outcome has come, when the last caller stops
// waiting, or with a reconnect while no caller waits.
type waiter struct {
	changed chan struct{} // closed when the callers have to look, and replaced until there is an outcome
	outcome *record.Outcome
	waiting int  // how many callers wait
	heard   bool // since before the submission: only a lost connection can have hidden an outcome

	readAt time.Time // when it is read if nothing is heard
	pause  time.Duration
}

// wake makes the callers that wait look.
func (w *waiter) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// patient begins to count until the next reading.
func (w *waiter) patient(now time.Time, pause time.Duration) {
	w.pause = min(pause, readAtMost)
	w.readAt = now.Add(w.pause/2 + rand.N(w.pause)) // not all of them at once
}

// expect begins to listen for a task that is about to be submitted. It returns nil if the client
// listens for too many.
func (ws *waiters) expect(id string) *waiter {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.open) >= maxWaiters {
		return nil
	}
	w := &waiter{changed: make(chan struct{}), heard: true}
	ws.open[id] = w
	return w
}

// join waits for a task, together with other callers if there are any. The task may have been
// requeued since it was submitted. So this caller reads, and the others read from then on too.
// leave must follow.
func (ws *waiters) join(id string) *waiter {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.open[id]
	if w == nil {
		w = &waiter{changed: make(chan struct{})}
		ws.open[id] = w
	}
	w.heard = false
	ws.wait(w)
	return w
}

// joinAs is join for a task that was expected. Its outcome may have come, so that it is no longer
// in the map.
func (ws *waiters) joinAs(id string, w *waiter) *waiter {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if other := ws.open[id]; other != nil && w.outcome == nil {
		w = other
	} else if w.outcome == nil {
		ws.open[id] = w
	}
	ws.wait(w)
	return w
}

func (ws *waiters) wait(w *waiter) {
	if w.waiting++; w.waiting == 1 {
		w.patient(time.Now(), readAfter)
	}
}

func (ws *waiters) leave(id string, w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.waiting--; w.waiting == 0 && ws.open[id] == w {
		delete(ws.open, id)
		w.heard = false
	}
}

// doubt makes the callers that wait read: the task begins again, and an announcement may be of its
// earlier end.
func (ws *waiters) doubt(id string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.open[id]; w != nil {
		w.heard = false
	}
}

// drop stops listening for a task that was not submitted after all.
func (ws *waiters) drop(id string, w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w != nil && ws.open[id] == w && w.waiting == 0 {
		delete(ws.open, id)
	}
}

// announce takes the announced outcome of a task. A caller that has not listened since before the
// submission reads the record instead: the announcement may be late, and the task requeued since.
// All callers read if the announcement says only that there is an outcome to read, and if it cannot
// be decoded: the reader then learns what is wrong.
func (ws *waiters) announce(id string, announcement []byte) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.open[id]
	if w == nil {
		return
	}
	if w.heard {
		if o, err := record.DecodeAnnouncement(announcement); err == nil {
			delete(ws.open, id)
			w.outcome = o
			close(w.changed)
			return
		}
	}
	w.heard = false
	if w.waiting > 0 {
		w.wake()
		return
	}
	delete(ws.open, id) // the next caller that waits for it reads first
}

func (ws *waiters) renew() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	close(ws.renewed)
	ws.renewed = make(chan struct{})
	now := time.Now()
	for id, w := range ws.open {
		w.heard = false
		if w.waiting == 0 { // the next caller reads first: the client need not listen, perhaps for ever
			delete(ws.open, id)
			continue
		}
		w.patient(now, readAfter)
		w.wake()
	}
}

// tick makes callers read that have heard nothing for a while.
func (ws *waiters) tick(now time.Time) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.open {
		if w.waiting > 0 && !now.Before(w.readAt) {
			w.heard = false
			w.patient(now, 2*w.pause)
			w.wake()
		}
	}
}

// close releases all callers that wait.
func (ws *waiters) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closed = true
	for _, w := range ws.open {
		w.wake()
	}
}

// reconnect is closed with the next reconnect.
func (ws *waiters) reconnect() <-chan struct{} {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.renewed
}

// look is the state of a waiter, and the channel that is closed when the state changes.
func (ws *waiters) look(w *waiter) (o *record.Outcome, heard, closed bool, changed <-chan struct{}) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return w.outcome, w.heard, ws.closed, w.changed
}
