package tasksim

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gather"
)

// gathering is the writes under the seal that wait for the next batch. One is under way at a time;
// now and then those that wait go alone instead, as they do where that is faster.
type gathering struct {
	queue  []gathered
	flying bool
	guard  uint64 // the last one
	unsure uint64 // the last one under which nothing is known of a batch with members of bundles
}

type gathered struct {
	number uint64
	put    put
	member bundles.Member // whose outcome it is, zero: of none
	halved int
}

// gathers reports whether a write waits for others, and keeps it then.
func (l *lead) gathers(number uint64, all []put) bool {
	p := all[0]
	if !l.w.Batches || len(all) > 1 || p.on != sealSubject || p.subject == sealSubject {
		return false
	}
	l.gather(gathered{number: number, put: p})
	return true
}

func (l *lead) gather(x gathered) {
	l.wait.guard = max(l.wait.guard, x.put.expect)
	l.wait.queue = append(l.wait.queue, x)
}

// flush sends what has gathered. The rules ask again for all that they wanted under an earlier
// seal.
func (l *lead) flush() {
	g, w := &l.wait, l.w
	if g.flying || !l.able() {
		return
	}
	g.queue = slices.DeleteFunc(g.queue, func(x gathered) bool {
		return x.put.expect != g.guard || x.put.expect == g.unsure && x.member.Revision > 0
	})
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
	ends := slices.ContainsFunc(list, func(x gathered) bool { return x.member.Revision > 0 })
	if ends || n > 1 && list[0].halved <= gather.Halvings && w.chance(0.8) {
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
	var members []bundles.Member
	for i, x := range list {
		if all[i] = x.put; i > 0 {
			all[i].on = ""
		}
		if x.member.Revision > 0 {
			members = append(members, x.member)
		}
	}
	all = append(all, l.along(members)...)
	open := true
	answer := func(o record.Outcome, first uint64) {
		if !open {
			return
		}
		open = false
		if o == record.Unknown && len(members) > 0 {
			l.wait.unsure = list[0].put.expect
		}
		for i, x := range list {
			sequence := first
			if first > 0 {
				sequence += uint64(i)
			}
			l.step(tasks.Written{Write: x.number, Outcome: o, Revision: sequence})
		}
		if l.wait.flying = false; o == record.Unknown && len(members) > 0 {
			l.step(tasks.EndsUnknown{})
		}
		l.flush()
	}
	l.p.later(w.Lease, func() { answer(record.Unknown, 0) })
	l.carry(func() func() {
		if slices.ContainsFunc(all, func(p put) bool { return !w.store.takes(p) }) {
			return func() {
				if open {
					open, l.wait.flying = false, false
					if len(list) == 1 {
						w.Unstored++
						l.step(tasks.Unstorable{Write: list[0].number, Body: "it is too large"})
					} else {
						l.halve(list)
					}
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
