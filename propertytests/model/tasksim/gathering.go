package tasksim

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gather"
)

// gathering is the writes under the seal that wait for the next batch. One is under way at a time;
// now and then those that wait go alone instead, as they do where that is faster.
type gathering struct {
	queue  []gathered
	flying bool
	guard  uint64 // the last one
}

type gathered struct {
	number uint64
	put    put
	halved int
}

// gathers reports whether a write waits for others, and keeps it then.
func (l *lead) gathers(number uint64, all []put) bool {
	p := all[0]
	if !l.w.Batches || len(all) > 1 || p.on != sealSubject || p.subject == sealSubject {
		return false
	}
	l.wait.guard = max(l.wait.guard, p.expect)
	l.wait.queue = append(l.wait.queue, gathered{number: number, put: p})
	return true
}

// flush sends what has gathered. The rules ask again for all that they wanted under an earlier
// seal.
func (l *lead) flush() {
	g, w := &l.wait, l.w
	if g.flying || !l.able() {
		return
	}
	g.queue = slices.DeleteFunc(g.queue, func(x gathered) bool { return x.put.expect != g.guard })
	if len(g.queue) == 0 {
		return
	}
	n := 1
	for n < len(g.queue) && g.queue[n].halved == g.queue[0].halved {
		n++
	}
	if h := g.queue[0].halved; h > 0 {
		n = (n + 1) / 2
	}
	list := slices.Clone(g.queue[:n])
	g.queue = slices.Delete(g.queue, 0, n)
	if n > 1 && list[0].halved <= gather.Halvings && w.chance(0.8) {
		g.flying = true
		l.together(list)
		return
	}
	for _, x := range list {
		l.alone(x.number, x.put)
	}
	l.flush()
}

// together brings writes to the stream in one batch, of which it takes all or none. The condition
// goes with the first.
func (l *lead) together(list []gathered) {
	w := l.w
	w.Together++
	all := make([]put, len(list))
	for i, x := range list {
		if all[i] = x.put; i > 0 {
			all[i].on = ""
		}
	}
	open := true
	answer := func(o record.Outcome, first uint64) {
		if !open {
			return
		}
		open, l.wait.flying = false, false
		for i, x := range list {
			sequence := first
			if first > 0 {
				sequence += uint64(i)
			}
			l.step(tasks.Written{Write: x.number, Outcome: o, Revision: sequence})
		}
		l.flush()
	}
	l.p.later(w.Lease, func() { answer(record.Unknown, 0) })
	l.carry(func() func() {
		if slices.ContainsFunc(all, func(p put) bool { return !w.store.takes(p) }) {
			return func() {
				if open {
					open, l.wait.flying = false, false
					l.halve(list)
				}
			}
		}
		o, first := w.store.write(all...)
		return func() { answer(o, first) }
	})
}

// halve has a batch tried again in halves.
func (l *lead) halve(list []gathered) {
	l.w.Halved++
	for i := range list {
		list[i].halved++
	}
	l.wait.queue = append(list, l.wait.queue...)
	l.flush()
}
