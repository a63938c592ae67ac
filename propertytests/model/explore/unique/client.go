package unique

import (
	"fmt"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/unique"
)

// machine is a Submitter or a Requeuer.
type machine interface {
	Key(unique.Key)
	Place(unique.Place)
}

// read answers what is to be read.
func (x *Model) read(s *State, m machine, a unique.Action, key, back uint8) (what string, is bool) {
	switch a.Do {
	case unique.ReadKey:
		k := s.keys[key].at(back)
		of := unique.Key{Revision: uint64(k.revision), At: uint64(k.at)}
		if k.task > 0 {
			of.Task = fmt.Sprint(k.task)
		}
		m.Key(of)
		return fmt.Sprintf("reads key %d: %+v", key, of), true
	case unique.ReadPlace:
		p := s.places[number(a.Task)].at(back).shown(key)
		m.Place(p)
		return fmt.Sprintf("reads the place of %s: %+v", a.Task, p), true
	}
	return "", false
}

func (x *Model) act(s *State, who int, how uint8) (what string, err error) {
	c, cfg := &s.clients[who], &x.cfg.Clients[who]
	a := c.s.Next()
	what, read := x.read(s, &c.s, a, uint8(cfg.Key), how)
	if !read {
		w := writeOf(a, uint8(cfg.Key))
		var o record.Outcome
		o, err = x.send(s, w, how)
		c.s.Wrote(o, uint64(s.last))
		what = fmt.Sprintf("%s %d over %d %d: %v (%d)", writeNames[w.kind], w.task, w.expect, w.expectKey, o, how)
	}
	if a = c.s.Next(); a.Do == unique.Pause {
		c.s.Paused()
	}
	if a.Over() {
		*c = client{end: a.Do}
		if !s.opened[number(a.Task)] && err == nil {
			err = fmt.Errorf("task %s is said to be there, and was never stored", a.Task)
		}
	}
	return what, err
}

func writeOf(a unique.Action, key uint8) streamWrite {
	w := streamWrite{task: uint8(number(a.Task)), expect: uint8(a.Expect)}
	switch a.Do {
	case unique.Reserve:
		w.kind = reserves
	case unique.Rewrite:
		w.kind = rewrites
	case unique.TakeKey:
		w.kind, w.key, w.at, w.expect, w.expectKey = takes, key, uint8(a.At), 0, uint8(a.Expect)
	case unique.Store:
		w.kind, w.key = stores, key
	}
	return w
}

// actAgain is a step of the client that submits a dead task again.
func (x *Model) actAgain(s *State, how uint8) (what string, err error) {
	r := &s.requeue
	what, read := x.read(s, &r.m, r.m.Next(), 1, how)
	if !read {
		w := writeOf(r.m.Next(), 1)
		if w.kind == stores {
			w.kind = storesAgain
		}
		var o record.Outcome
		o, err = x.send(s, w, how)
		r.m.Wrote(o, uint64(s.last))
		what = fmt.Sprintf("%s %d over %d %d: %v (%d)", writeNames[w.kind], w.task, w.expect, w.expectKey, o, how)
	}
	switch a := r.m.Next(); {
	case a.Over():
		*r = requeuer{progress: finished}
	case a.Do == unique.Pause:
		*r = requeuer{}
	}
	return what, err
}
