package tasksim

import "time"

// step is what the stream's clock is ahead by from a moment on.
type step struct{ at, ahead time.Duration }

// maxAhead is by how much the stream's clock is ahead or behind at most.
const maxAhead = 40 * time.Second

// step puts the stream's clock forward and back now and then. Where outcomes expire it is put back
// only: if it were put forward, an outcome could expire, and its id be in use again, in the instant
// in which a scheduler looks.
func (w *taskWorld) step() {
	if w.Steps == 0 {
		return
	}
	w.after(w.upTo(2*w.Steps), func() {
		if w.calm {
			return
		}
		to := w.upTo(2*maxAhead) - maxAhead
		if w.Retention > 0 {
			to = min(to, w.store.ahead())
		}
		w.Stepped++
		w.store.steps = append(w.store.steps, step{w.now, to})
		w.step()
	})
}

func (s *taskStream) ahead() time.Duration {
	if n := len(s.steps); n > 0 {
		return s.steps[n-1].ahead
	}
	return 0
}

// clock is the stream's.
func (s *taskStream) clock() time.Duration { return s.w.now + s.ahead() }

// aheadSince is the least and the most that it was ahead by since a moment.
func (s *taskStream) aheadSince(at time.Duration) (least, most time.Duration) {
	least, most = s.ahead(), s.ahead()
	for i := len(s.steps) - 1; i >= 0 && s.steps[i].at > at; i-- {
		before := time.Duration(0)
		if i > 0 {
			before = s.steps[i-1].ahead
		}
		least, most = min(least, before), max(most, before)
	}
	return least, most
}

// once has something done when the stream's clock shows a time.
func (w *taskWorld) once(at time.Duration, do func()) {
	w.after(at-w.store.clock(), func() {
		if w.store.clock() < at { // it was put back
			w.once(at, do)
			return
		}
		do()
	})
}
