package tasksim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/unique"
)

// claimant is a client that submits a task with a unique key, by the rules of package unique. Its
// requests may be lost, come late, or be answered by a server that lags, and it may be gone at any
// moment.
type claimant struct {
	w    *taskWorld
	id   string
	s    submission
	m    unique.Submitter
	asks int // how often it has asked for something
}

// submitUnique stores a task if nobody has its key.
func (w *taskWorld) submitUnique(id string, s submission) {
	c := &claimant{w: w, id: id, s: s, m: unique.NewSubmitter(id, w.chance(0.7), w.chance(0.5))}
	c.goOn()
}

// goOn does the next thing.
func (c *claimant) goOn() {
	w, a := c.w, c.m.Next()
	if !w.calm && w.chance(w.Loss/10) { // so much for this client
		w.Left++
		w.unsure--
		return
	}
	switch u := "u." + c.s.keys.Unique; a.Do {
	case unique.Stored:
		w.unsure--
		w.acked[c.id] = true
	case unique.Taken:
		w.unsure--
		if a.Task == c.id {
			w.acked[c.id] = true
		} else {
			w.Shared++
		}
		if w.lives[a.Task] == 0 {
			w.fail("%s is said to be there, and was never submitted", a.Task)
		}
	case unique.Pause:
		w.after(w.upTo(w.Lease/10), func() {
			c.m.Paused()
			c.goOn()
		})
	case unique.ReadKey:
		c.ask(func() func() {
			key := w.store.readKey(u)
			return func() { c.m.Key(key) }
		}, func() {})
	case unique.ReadPlace:
		c.ask(func() func() {
			place := w.store.readPlace(a.Task, c.s.keys.Unique)
			return func() { c.m.Place(place) }
		}, func() {})
	case unique.Reserve:
		c.write(put{"q." + a.Task, reserved{}, "q." + a.Task, a.Expect})
	case unique.TakeKey:
		c.write(put{u, uniqueOf{a.Task, a.At}, u, a.Expect})
	case unique.Store:
		c.write(put{"q." + c.id, c.s, "q." + c.id, a.Expect})
	}
}

func (c *claimant) write(p put) {
	c.ask(func() func() {
		o, revision := c.w.store.write(p)
		return func() { c.m.Wrote(o, revision) }
	}, func() { c.m.Wrote(record.Unknown, 0) })
}

// ask carries out a request, after whose answer the client continues, or after some time without
// one.
func (c *claimant) ask(do func() (answer func()), without func()) {
	w := c.w
	c.asks++
	number := c.asks
	next := func(f func()) {
		if c.asks == number {
			c.asks++
			f()
			c.goOn()
		}
	}
	w.after(w.Lease, func() { next(without) })
	if !w.calm && w.chance(w.Loss) {
		return
	}
	w.after(w.travel(), func() {
		answer := do()
		if w.calm || !w.chance(w.Loss) {
			w.after(w.travel(), func() { next(answer) })
		}
	})
}

// readKey is the record of a key, as a server shows it that may lag.
func (s *taskStream) readKey(subject string) unique.Key {
	r, revision := s.shown(subject)
	k := unique.Key{Revision: revision}
	if u, ok := r.(uniqueOf); ok {
		k.Task, k.At = u.task, u.at
	}
	return k
}

// readPlace is what the place of a task holds for somebody who asks for a key, likewise.
func (s *taskStream) readPlace(id, key string) unique.Place {
	r, revision := s.shown("q." + id)
	p := unique.Place{Revision: revision}
	switch v := r.(type) {
	case submission:
		if p.Holds = unique.Other; v.keys != nil && v.keys.Unique == key {
			p.Holds = unique.Open
		}
	case tasks.Outcome:
		p.Holds = unique.Ended
	}
	return p
}

// shown is a record that is at a subject, or was a moment ago.
func (s *taskStream) shown(subject string) (value any, revision uint64) {
	if s.w.calm || !s.w.chance(0.2) {
		return s.record(subject), s.last[subject]
	}
	until := s.w.now - s.w.upTo(s.w.Lease/2)
	for i := len(s.log) - 1; i >= 0; i-- {
		if r := &s.log[i]; r.at <= until && r.subject == subject {
			return r.value, uint64(i + 1)
		}
	}
	return nil, 0
}

// mayTake finds out for somebody who submits a dead task again whether its key may be taken, and
// the revision of the key's record then.
func (w *taskWorld) mayTake(key string) (expect uint64, may bool) {
	f := unique.NewFinder()
	for {
		switch a := f.Next(); a.Do {
		case unique.ReadKey:
			f.Key(w.store.readKey("u." + key))
		case unique.ReadPlace:
			f.Place(w.store.readPlace(a.Task, key))
		case unique.Reserve:
			o, _ := w.store.write(put{"q." + a.Task, reserved{}, "q." + a.Task, a.Expect})
			f.Wrote(o)
		case unique.Free:
			return a.Expect, true
		default: // it is taken, or a server lags
			return 0, false
		}
	}
}

// reservedFor lets a reservation expire.
func (w *taskWorld) reservedFor(subject string, revision uint64) {
	w.after(w.upTo(4*w.Lease)+time.Millisecond, func() { w.store.expire(subject, revision) })
}
