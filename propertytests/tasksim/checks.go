package tasksim

import (
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/internal/protocol"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// checks are what must hold, and what was seen for it.
type checks struct {
	Counts
	broken  error
	acked   map[string]bool
	live    map[string]int
	largest map[string]tasks.Attempt // attempt that was ever started
	ended   map[string]map[tasks.Attempt]tasks.Verb
	counted map[string]map[tasks.Attempt]bool // failures that were settled
}

func (c *checks) init() {
	c.acked, c.live = map[string]bool{}, map[string]int{}
	c.largest, c.ended = map[string]tasks.Attempt{}, map[string]map[tasks.Attempt]tasks.Verb{}
	c.counted = map[string]map[tasks.Attempt]bool{}
}

func (c *checks) fail(format string, args ...any) {
	if c.broken == nil {
		c.broken = fmt.Errorf(format, args...)
	}
}

// begins takes note of a handler that starts.
func (c *checks) begins(id string, a tasks.Attempt, by string) {
	c.Started++

	if c.live[id]++; c.live[id] > 1 {
		c.fail("two live handlers of %s: attempt %v at %s beside another", id, a, by)
	}
	if old, ok := c.largest[id]; ok {
		c.Reruns++
		if a.Compare(old) <= 0 {
			c.fail("%s runs attempt %v after %v", id, a, old)
		}
	}
	c.largest[id] = a
}

func (c *checks) ends(id string, a tasks.Attempt, v tasks.Verb) {
	c.live[id]--
	if c.ended[id] == nil {
		c.ended[id] = map[tasks.Attempt]tasks.Verb{}
	}
	c.ended[id][a] = v
}

// outcome checks one that is being stored over what stands there.
func (c *checks) outcome(id string, o tasks.Outcome, over any) {
	c.Outcomes++
	if _, open := over.(submission); !open {
		c.fail("second outcome of %s: %+v over %+v", id, o, over)
	}
	if o.Status == tasks.StatusSucceeded {
		if o.Attempt != c.largest[id] {
			c.fail("late outcome of %s: of attempt %v, while %v was started", id, o.Attempt, c.largest[id])
		}
		if v := c.ended[id][o.Attempt]; v != tasks.Succeeded {
			c.fail("outcome of %s: attempt %v has not succeeded but %v", id, o.Attempt, v)
		}
	}
}

// failed takes note of a failure that a scheduler has settled: it must count, for every later scheduler too.
func (w *world) failed(h tasks.Held) {
	if w.counted[h.ID] == nil {
		w.counted[h.ID] = map[tasks.Attempt]bool{}
	}
	w.counted[h.ID][h.Attempt] = true
	if n := len(w.counted[h.ID]); n > maxAttempts {
		w.fail("%d settled failures of %s", n, h.ID)
	}
}

var errLost = errors.New("lost")

// finish checks what must hold in the end.
func (w *world) finish() {
	if w.broken != nil {
		return
	}
	for id := range w.acked {
		if _, ok := w.store.record("q." + id).(tasks.Outcome); !ok {
			w.broken = fmt.Errorf("%w: %s was acknowledged and has no outcome; %s", errLost, id, w.describe(id))
			return
		}
	}
}

// describe says where everybody stands, for a failure.
func (w *world) describe(id string) string {
	out := ""
	for _, l := range w.leads {
		if !l.over {
			g, known := l.s.Glance(protocol.Instant(w.now), id)
			out += fmt.Sprintf("scheduler %s epoch %d ready %t: %+v %t; ", l.p.name, l.epoch, l.s.Ready(), g, known)
		}
	}
	for _, p := range w.procs {
		out += fmt.Sprintf("%s session %d cut %t up %t view %d", p.name, p.session, p.cut, p.up, p.epoch)
		if p.work != nil {
			out += fmt.Sprintf(" holds %v", p.work.m.Holding())
		}
		out += "; "
	}
	return out
}
