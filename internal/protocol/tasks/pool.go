package tasks

import (
	"encoding/binary"
)

// pool is a set of workers that can run the same lanes, and those of them that may be given something in this round, the
// least loaded first. While a round goes on workers only get more: so what has changed is found when it comes first.
type pool struct {
	workers []*worker
	free    []candidate
	round   uint64
}

type candidate struct {
	w    *worker
	load int // when it was sorted in
}

func (a *candidate) before(b *candidate) bool {
	x, y := a.load*b.w.slots, b.load*a.w.slots
	return x < y || x == y && a.w.order < b.w.order
}

// poolOf finds out who can run the tasks of a lane. Lanes for which that is the same share it.
func (s *Scheduler) poolOf(l *lane) *pool {
	if s.dirty {
		s.dirty = false
		clear(s.pools)
		for _, l := range s.lanes {
			l.pool = nil
		}
	}
	if l.pool != nil {
		return l.pool
	}
	var all []*worker
	var key []byte
	for _, w := range s.line {
		if l.takes(w) {
			all = append(all, w)
			key = binary.AppendUvarint(key, w.session)
		}
	}
	l.pool = s.pools[string(key)]
	if l.pool == nil {
		l.pool = &pool{workers: all}
		s.pools[string(key)] = l.pool
	}
	return l.pool
}

// fill begins a round.
func (p *pool) fill(s *Scheduler) {
	if p.round == s.round {
		return
	}
	p.round, p.free = s.round, p.free[:0]
	for _, w := range p.workers {
		if w.idle(s) {
			p.free = append(p.free, candidate{w, w.load})
		}
	}
	for i := len(p.free)/2 - 1; i >= 0; i-- {
		p.down(i)
	}
}

// least is the least loaded worker, nil when none has room.
func (p *pool) least(s *Scheduler) *worker {
	for len(p.free) > 0 {
		c := &p.free[0]
		switch {
		case !c.w.idle(s):
			n := len(p.free) - 1
			p.free[0] = p.free[n]
			p.free[n] = candidate{}
			p.free = p.free[:n]
		case c.load != c.w.load:
			c.load = c.w.load
		default:
			return c.w
		}
		p.down(0)
	}
	return nil
}

func (p *pool) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(p.free); c++ {
			if p.free[c].before(&p.free[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		p.free[i], p.free[least] = p.free[least], p.free[i]
		i = least
	}
}
