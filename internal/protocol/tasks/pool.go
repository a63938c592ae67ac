package tasks

import (
	"encoding/binary"
)

// pool is a set of workers that can run the same classes, and those of them that may be given
// something in this round, the least loaded first. While a round continues workers only get more:
// so what has changed is found when it comes first.
type pool struct {
	workers []*worker
	classes []*queueClass
	free    []candidate
	round   uint64
	open    bool // in this round somebody of it has room
}

// pools are those there are: there may be many classes, but only as many pools as there are sets of
// workers. All classes that nobody takes have one without workers, and cost nothing.
type pools struct {
	list []*pool
	by   map[string]*pool // the same, by their sessions
	key  []byte           // scratch
}

// maxLooked bounds how many workers are looked at in one round to find out who takes which class:
// it continues in the next.
const maxLooked = 1 << 16

type candidate struct {
	w    *worker
	load int // when it was sorted in
}

func (a *candidate) before(b *candidate) bool {
	x, y := a.load*b.w.slots, b.load*a.w.slots
	return x < y || x == y && a.w.order < b.w.order
}

// findPools finds out who can run the tasks of classes of which that is not known, as many as one
// round may.
func (s *Scheduler) findPools() {
	if s.dirty {
		s.dirty, s.pooled, s.pools = false, 0, pools{by: map[string]*pool{}}
		for _, l := range s.classes {
			l.pool = nil
		}
	}
	for looked := 0; s.pooled < len(s.classes); s.pooled++ {
		if looked += len(s.workerList) + 1; looked > maxLooked {
			s.wake = s.now
			return
		}
		s.join(s.classes[s.pooled])
	}
}

// join gives a class its pool. Classes that the same workers can run share one.
func (s *Scheduler) join(l *queueClass) {
	key := s.pools.key[:0]
	for _, w := range s.workerList {
		if l.takes(w) {
			key = binary.AppendUvarint(key, w.session)
		}
	}
	s.pools.key = key
	p := s.pools.by[string(key)]
	if p == nil {
		p = &pool{}
		for _, w := range s.workerList {
			if l.takes(w) {
				p.workers = append(p.workers, w)
			}
		}
		s.pools.by[string(key)] = p
		s.pools.list = append(s.pools.list, p)
	}
	l.pool, l.slot = p, len(p.classes)
	p.classes = append(p.classes, l)
}

func (p *pool) leave(l *queueClass) {
	last := len(p.classes) - 1
	p.classes[l.slot] = p.classes[last]
	p.classes[l.slot].slot = l.slot
	p.classes[last] = nil
	p.classes = p.classes[:last]
}

// lead has those of its classes lead that may be handed out from, if anybody has room.
func (p *pool) lead(s *Scheduler) {
	if len(p.workers) == 0 {
		return
	}
	for _, l := range p.classes {
		if l.offered == 0 || l.kind.paused {
			continue
		}
		if !p.fill(s) {
			break
		}
		s.lead(l)
	}
}

// fill begins a round. It reports whether anybody has room: also who has not answered yet, and may
// be chosen all the same.
func (p *pool) fill(s *Scheduler) bool {
	if p.round == s.round {
		return p.open
	}
	p.round, p.open, p.free = s.round, false, p.free[:0]
	for _, w := range p.workers {
		if w.idle(s) {
			p.free = append(p.free, candidate{w, w.load})
		}
		p.open = p.open || w.takesNew() && w.room() > 0
	}
	for i := len(p.free)/2 - 1; i >= 0; i-- {
		p.down(i)
	}
	return p.open
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
