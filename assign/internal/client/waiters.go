package client

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// maxWaiters is how many tasks a client listens for though nobody waits for them yet. Whoever waits for one beyond it
// reads first.
const maxWaiters = 1 << 16

// Between two readings of who waits. What is announced is nearly never lost.
const (
	readAfter  = time.Second
	readAtMost = 30 * time.Second
)

// waiters are the tasks whose outcome a client listens for.
type waiters struct {
	mu      sync.Mutex
	open    map[string]*waiter
	renewed chan struct{} // closed, and made anew, when everybody has to look again
	closed  bool          // the client is
}

// waiter is one task. It leaves the map when its outcome has come, with the last who waits, or with a reconnect when nobody does.
type waiter struct {
	changed chan struct{} // closed, and made anew until there is an outcome, when who waits has to look
	outcome *record.Outcome
	waiting int  // how many wait
	heard   bool // since before the submission: no outcome can have been missed but by a lost connection

	readAt time.Time // when it is read, should nothing be heard
	pause  time.Duration
}

// wake makes who waits look.
func (w *waiter) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// patient begins to count until the next reading.
func (w *waiter) patient(now time.Time, pause time.Duration) {
	w.pause = min(pause, readAtMost)
	w.readAt = now.Add(w.pause/2 + rand.N(w.pause)) // not all of them at once
}

// expect begins to listen for a task that is about to be submitted; nil when too many are listened for.
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

// join waits for a task with others, if there are any. It may have been requeued since it was submitted: whoever joins reads,
// and so do the others from then on. Leave must follow.
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

// joinAs is join for one that was expected: it may have been delivered, and be out of the map.
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

// doubt has who waits read: the task begins anew, and what is announced may be how it ended before.
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

// announce takes how a task has ended. Who has not listened since before the submission reads what stands there: an announcement
// may be late, and the task requeued since. So does everybody when it says no more than that there is something to read, and when
// it cannot be understood: whoever reads is told what is wrong.
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
	delete(ws.open, id) // who waits for it will read first
}

func (ws *waiters) renew() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	close(ws.renewed)
	ws.renewed = make(chan struct{})
	now := time.Now()
	for id, w := range ws.open {
		w.heard = false
		if w.waiting == 0 { // who waits for it will read first: it need not be listened for, perhaps for ever
			delete(ws.open, id)
			continue
		}
		w.patient(now, readAfter)
		w.wake()
	}
}

// tick has those read of whom nothing was heard for a while.
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

// close lets go of all who wait.
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

// look is where a waiter is, and what tells that it has changed.
func (ws *waiters) look(w *waiter) (o *record.Outcome, heard, closed bool, changed <-chan struct{}) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return w.outcome, w.heard, ws.closed, w.changed
}
