package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/bench/proc"
)

// moment is something that happened.
type moment struct {
	what, of, who string
	at            int64
}

// ledger is all that happened, in the order in which it was heard. Each process's moments are in
// order.
type ledger struct {
	mu      sync.Mutex
	all     []moment
	changed chan struct{} // closed and recreated with each moment
}

func newLedger() *ledger { return &ledger{changed: make(chan struct{})} }

// hear writes down an event whose Of is "<of> <who>", or is without who.
func (l *ledger) hear(who string) func(proc.Event) {
	return func(e proc.Event) {
		of, instance, ok := strings.Cut(e.Of, " ")
		if !ok {
			instance = who
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, moment{e.What, of, instance, e.At})
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// await waits until n moments match, and returns them in the order in which they were heard.
func (l *ledger) await(ctx context.Context, what string, limit time.Duration, n int,
	match func(moment) bool,
) ([]moment, error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	var found []moment
	for next := 0; ; {
		l.mu.Lock()
		for ; next < len(l.all); next++ {
			if match(l.all[next]) {
				found = append(found, l.all[next])
			}
		}
		changed := l.changed
		l.mu.Unlock()
		if len(found) >= n {
			return found, nil
		}
		select {
		case <-changed:
		case <-late.C:
			return found, &overdueError{what, limit, len(found), n}
		case <-ctx.Done():
			return found, context.Cause(ctx)
		}
	}
}

// overdueError says what was waited for in vain: a result of a peer, not a fault of the comparison.
type overdueError struct {
	what  string
	limit time.Duration
	n, of int
}

func (e *overdueError) Error() string {
	return fmt.Sprintf("%s: %d of %d within %v", e.what, e.n, e.of, e.limit)
}

// count is how many moments match.
func (l *ledger) count(match func(moment) bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.all {
		if match(x) {
			n++
		}
	}
	return n
}

// first is the earliest moment that matches; ok is false when there is none.
func (l *ledger) first(match func(moment) bool) (m moment, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.all {
		if match(x) && (!ok || x.at < m.at) {
			m, ok = x, true
		}
	}
	return m, ok
}

// last is the latest.
func (l *ledger) last(match func(moment) bool) (m moment, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.all {
		if match(x) && (!ok || x.at >= m.at) {
			m, ok = x, true
		}
	}
	return m, ok
}
