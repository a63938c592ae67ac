package natskv

import (
	"container/heap"
	"fmt"
	"time"
)

// doubtAfter is how long an answer may take before the writer checks for a complaint of the server.
// It is well above any round trip, and well below the second within which a denied permission must
// be named.
const doubtAfter = 100 * time.Millisecond

// slot is a write's position among the deadlines.
type slot struct {
	at    time.Time // when something is due: a doubt first, then the deadline
	index int       // position in the heap, -1 when it is not there
}

// deadlines orders open writes by the time of their next step, so that one timer serves all of
// them. Adding and removing cost O(log n), and almost nothing when timeouts are equal, as they
// nearly always are.
type deadlines struct {
	rows byDue
	// sleeping is the time until which keepTime sleeps. It is zero when nothing was due.
	sleeping time.Time
}

// add reports whether keepTime must be woken, because this write is due before the end of its
// sleep.
func (t *deadlines) add(p *pending) bool {
	heap.Push(&t.rows, p)
	return t.sleeping.IsZero() || p.at.Before(t.sleeping)
}

func (t *deadlines) remove(p *pending) {
	if p.index >= 0 {
		heap.Remove(&t.rows, p.index)
	}
}

// postpone moves the first row to a later time.
func (t *deadlines) postpone(p *pending, at time.Time) {
	p.at = at
	heap.Fix(&t.rows, p.index)
}

// keepTime ends writes whose time is over, and asks resolve about those that wait long. It makes
// no call that can wait.
func (w *Writer) keepTime() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.earlier:
		case <-timer.C:
		}
		late, doubt, next := w.overdue(time.Now())
		if doubt {
			token(w.doubt)
		}
		for _, p := range late {
			p.done(Result{Err: fmt.Errorf("write %s: %w (%s)", p.op.subject(w.at), ErrTimeout, p.silence())})
		}
		if next > 0 {
			timer.Reset(next)
		} else {
			timer.Stop()
		}
	}
}

// silence describes what is known of a write that got no answer.
func (p *pending) silence() string {
	switch {
	case p.unheard:
		return "no stream listens just now"
	case p.published:
		return "published"
	default:
		return "never published: the connection is blocked"
	}
}

// overdue removes the writes whose deadline has passed. It reports whether others have waited long
// enough for a doubt, and how long it is until the next is due (0 for never).
func (w *Writer) overdue(now time.Time) (late []*pending, doubt bool, next time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.due.rows) > 0 {
		p := w.due.rows[0]
		switch {
		case !p.deadline.After(now):
			heap.Pop(&w.due.rows)
			delete(w.open, p.number)
			late = append(late, p)
		case !p.at.After(now):
			doubt = true
			w.due.postpone(p, p.deadline)
		default:
			w.due.sleeping = p.at
			return late, doubt, max(p.at.Sub(now), 1)
		}
	}
	w.due.sleeping = time.Time{}
	return late, doubt, 0
}

// byDue is a heap (container/heap), the earliest first.
type byDue []*pending

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h byDue) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *byDue) Push(x any) {
	p := x.(*pending)
	p.index = len(*h)
	*h = append(*h, p)
}

func (h *byDue) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	p.index = -1
	*h = (*h)[:last]
	return p
}
