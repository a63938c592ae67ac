package deploys

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/event"
)

// fleetNotes is what handlers, processes and submitters write down.
type fleetNotes struct {
	mu      sync.Mutex
	done    map[string]time.Time // when a handler has first returned well, by task; of the last hours
	ticks   []string             // ids of ticks, in the order in which they have first succeeded
	running int                  // handlers of the bounded kind
	peak    int                  // most of these since the last look
	counts  map[string]int
}

// late is how long after a success was returned its outcome is stored for sure: the process that
// returned it may have crashed before it was heard, and then the task runs again.
const late = 10 * time.Minute

var errOrdered = errors.New("it fails as it was ordered to")

// run is what every handler does.
func (l *fleet) run(ctx context.Context, id string, attempt int, o order) (string, error) {
	l.mu.Lock()
	first, again := l.done[id]
	l.mu.Unlock()
	if again && time.Since(first) > late {
		l.t.Errorf("%s runs at %v, and has succeeded at %v", id, time.Now(), first)
	}
	select {
	case <-time.After(o.Run):
	case <-ctx.Done():
		l.count("interrupted")
		return "", context.Cause(ctx)
	}
	if attempt <= o.Fail || o.Fail >= maxAttempts { // attempts that were interrupted have numbers too
		return "", errOrdered
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, again := l.done[id]; !again {
		l.done[id] = time.Now()
		if isTick(id) {
			l.ticks = append(l.ticks, id)
		}
	}
	return id, nil
}

// enter counts a handler of the bounded kind, until what it returns is called.
func (l *fleetNotes) enter() (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running++
	l.peak = max(l.peak, l.running)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running--
	}
}

// peaked is how many handlers of the bounded kind ran at once since the last call.
func (l *fleetNotes) peaked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.peak
	l.peak = l.running
	return n
}

// forget drops what happened long ago.
func (l *fleetNotes) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, at := range l.done {
		if time.Since(at) > 2*kept {
			delete(l.done, id)
		}
	}
}

func (l *fleetNotes) count(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[what]++
}

// observe counts what has to happen, else a run shows nothing.
func (l *fleetNotes) observe(e event.Event) {
	switch e := e.(type) {
	case event.RolePromoted:
		l.count("terms")
	case event.TaskRejected:
		l.count("rejected/" + e.Reason)
	case event.TaskReassigned:
		l.count("again/" + e.Cause)
	}
}
