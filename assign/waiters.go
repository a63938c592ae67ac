package assign

import "sync"

// maxWaiters is how many tasks a client listens for though nobody waits for them yet. Whoever waits for one beyond it
// reads first.
const maxWaiters = 1 << 16

// waiters are the tasks whose outcome a client listens for.
type waiters struct {
	mu      sync.Mutex
	open    map[string]*waiter
	renewed chan struct{} // closed, and made anew, when everybody has to look again
}

// waiter is one task. It leaves the map when its outcome has come, or with the last who waits.
type waiter struct {
	done    chan struct{} // closed when outcome is set
	outcome *outcome
	waiting int  // how many wait
	heard   bool // since before the submission: no outcome can have been missed but by a lost connection
}

// expect begins to listen for a task that is about to be submitted; nil when too many are listened for.
func (ws *waiters) expect(id string) *waiter {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.open) >= maxWaiters {
		return nil
	}
	w := &waiter{done: make(chan struct{}), heard: true}
	ws.open[id] = w
	return w
}

// join waits for a task with others, if there are any. Leave must follow.
func (ws *waiters) join(id string) *waiter {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.open[id]
	if w == nil {
		w = &waiter{done: make(chan struct{})}
		ws.open[id] = w
	}
	w.waiting++
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
	w.waiting++
	return w
}

func (ws *waiters) leave(id string, w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.waiting--; w.waiting == 0 && ws.open[id] == w {
		delete(ws.open, id)
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

func (ws *waiters) deliver(id string, o *outcome) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.open[id]; w != nil {
		delete(ws.open, id)
		w.outcome = o
		close(w.done)
	}
}

func (ws *waiters) renew() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	close(ws.renewed)
	ws.renewed = make(chan struct{})
	for _, w := range ws.open {
		w.heard = false
	}
}

// reconnect is closed with the next reconnect.
func (ws *waiters) reconnect() <-chan struct{} {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.renewed
}

// state reads what a waiter waits for next.
func (ws *waiters) state(w *waiter) (renewed <-chan struct{}, heard bool, o *outcome) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.renewed, w.heard, w.outcome
}

// doubt makes who waits read: nothing was heard for a while.
func (ws *waiters) doubt(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.heard = false
}
