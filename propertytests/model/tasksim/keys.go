package tasksim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/unique"
)

// claimant is a client that submits a task with a unique key, or submits it again, by the rules of
// package unique. Its requests may be lost, come late, or be answered by a server that lags, and it
// may be gone at any moment.
type claimant struct {
	w     *taskWorld
	id    string
	s     submission
	m     taking
	pause func()                // after a moment
	end   func(a unique.Action) // Action{} if it is gone
	asks  int                   // how often it has asked for something
}

// taking is a unique.Submitter or a unique.Requeuer.
type taking interface {
	Next() unique.Action
	Key(unique.Key)
	Place(unique.Place)
	Wrote(record.Outcome, uint64)
}

// submitUnique stores a task if nobody has its key.
func (w *taskWorld) submitUnique(id string, s submission) {
	m := unique.NewSubmitter(id, w.chance(0.7), w.chance(0.5))
	c := &claimant{w: w, id: id, s: s, m: &m}
	c.pause = func() {
		m.Paused()
		c.goOn()
	}
	c.end = func(a unique.Action) {
		w.unsure--
		switch {
		case a.Do == unique.Stored || a.Task == id:
			w.acked[id] = true
		case a.Do == unique.Taken:
			w.Shared++
		default:
			w.Left++
		}
	}
	c.goOn()
}

// requeueUnique submits a dead task again if nobody has its key.
func (w *taskWorld) requeueUnique(id string, s submission, dead uint64) {
	m := unique.NewRequeuer(id, dead)
	c := &claimant{w: w, id: id, s: s, m: &m}
	c.pause = func() { w.requeue(id, s) }
	c.end = func(a unique.Action) {
		if a.Do == unique.Stored {
			w.Requeued++
		}
	}
	c.goOn()
}

// goOn does the next thing.
func (c *claimant) goOn() {
	w, a := c.w, c.m.Next()
	if !w.calm && w.chance(w.Loss/10) { // so much for this client
		c.end(unique.Action{})
		return
	}
	switch u := "u." + c.s.keys.Unique; a.Do {
	case unique.Stored, unique.Taken:
		if w.lives[a.Task] == 0 {
			w.fail("%s is said to be there, and was never submitted", a.Task)
		}
		c.end(a)
	case unique.Pause:
		w.after(w.upTo(w.Lease/10), c.pause)
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
	case unique.Rewrite:
		c.ask(func() func() {
			o := w.store.writeAgain("q."+a.Task, a.Expect)
			return func() { c.m.Wrote(o, 0) }
		}, func() { c.m.Wrote(record.Unknown, 0) })
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

// writeAgain replaces an outcome by itself, for a client.
func (s *taskStream) writeAgain(subject string, expect uint64) record.Outcome {
	if s.last[subject] != expect {
		return record.Refused
	}
	s.rewrite(subject, s.stays[expect])
	s.w.Rewritten++
	return record.Won
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

// reservedFor lets a reservation expire.
func (w *taskWorld) reservedFor(subject string, revision uint64) {
	w.after(w.upTo(4*w.Lease)+time.Millisecond, func() { w.store.expire(subject, revision) })
}
