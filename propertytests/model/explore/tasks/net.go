package tasks

import (
	"cmp"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

func (x *Model) send(w *World, m *message) {
	w.net = x.keepNet(&net{list: append(slices.Clone(w.net.list), m)})
}

func (x *Model) drop(w *World, n int) {
	w.net = x.keepNet(&net{list: slices.Delete(slices.Clone(w.net.list), n, n+1)})
}

func (x *Model) change(w *World, n int, how func(*message)) {
	m := *w.net.list[n]
	how(&m)
	list := slices.Clone(w.net.list)
	list[n] = &m
	w.net = x.keepNet(&net{list: list})
}

// arrive brings a message to its receiver. A link that is cut loses it, but for a write, which
// may be flushed later.
func (x *Model) arrive(w *World, n int) error {
	m := w.net.list[n]
	k, i := int(m.leader), int(m.member)
	host := w.members[w.leaders[k].host]
	cut := host.cut || w.members[i].cut
	switch {
	case m.kind == writes && cut && !m.late:
		if x.lateWrites(w, k) < maxFlushed {
			x.change(w, n, func(m *message) { m.late = true })
		} else {
			x.drop(w, n)
		}
		return nil
	case m.kind == writes:
		x.drop(w, n)
		result, sequence, err := x.store(w, m)
		if err == nil && w.leaders[k].s != nil && !cut {
			x.send(w, &message{
				kind: outcomes, leader: m.leader, member: m.member, write: m.write, result: result,
				expect: sequence,
			})
		}
		return err
	case m.kind <= syncs && !cut && w.members[i].w != nil && w.members[i].waits(w.ledger, m):
		if slices.ContainsFunc(w.net.list, func(o *message) bool {
			return o.late && o.kind == m.kind && o.leader == m.leader && o.member == m.member
		}) {
			x.drop(w, n) // one is kept of each: its sender will send it again
		} else {
			x.change(w, n, func(m *message) { m.late = true }) // the view is given time to catch up
		}
		return nil
	}
	x.drop(w, n)
	if cut {
		return nil
	}
	if m.kind <= syncs || m.kind == settles {
		return x.hear(w, i, m)
	}
	if m.kind == outcomes {
		x.answered(w, k, m.write)
	}
	return x.tell(w, k, m.event())
}

// maxFlushed is how many writes a link that is cut keeps, to be flushed later.
const maxFlushed = 2

func (x *Model) lateWrites(w *World, k int) (n int) {
	for _, m := range w.net.list {
		if m.kind == writes && m.late && int(m.leader) == k {
			n++
		}
	}
	return n
}

// history drops late writes that can never win any more, and that nobody waits for: sequences only
// rise.
func (x *Model) history(w *World, subject string) {
	for n := len(w.net.list) - 1; n >= 0; n-- {
		m := w.net.list[n]
		if m.kind == writes && m.late && m.on == subject && w.ledger.sequence(subject) != m.expect && !x.waitsFor(w, m) {
			x.drop(w, n)
		}
	}
}

func (x *Model) waitsFor(w *World, m *message) bool {
	l := w.leaders[m.leader]
	return l.s != nil && slices.Contains(l.asked, m.write)
}

// event is what a message says to a scheduler.
func (m *message) event() tasks.Event {
	id := taskID(int(m.task))
	switch m.kind {
	case answers:
		return tasks.Answered{Session: m.session, Frame: m.frame, Answers: m.answers}
	case stopped:
		return tasks.Stopped{Session: m.session, ID: id, Attempt: m.attempt}
	case synced:
		return tasks.Synced{Session: m.session, Held: m.held}
	case outcomes:
		return tasks.Written{Write: m.write, Outcome: m.result, Revision: m.expect}
	}
	return tasks.Done{
		Session: m.session, ID: id, Attempt: m.attempt, Result: tasks.Result{Verb: m.verb},
		Ref: reference{m.member, m.session, m.task, m.attempt},
	}
}

// answered strikes a write from those that time makes unknown.
func (x *Model) answered(w *World, k int, number uint64) {
	l := *w.leaders[k]
	if l.s == nil {
		return
	}
	l.asked = slices.DeleteFunc(slices.Clone(l.asked), func(n uint64) bool { return n == number })
	w.leaders[k] = x.keepLeader(k, &l)
}

// addressee is what a member holds frames against.
func (m *member) addressee(l *history) frame.Addressee {
	v := m.view(l)
	return frame.Addressee{Session: m.session, Epoch: v.epoch, Highest: v.highest, Open: v.open}
}

// envelope is what a frame says about itself. It names its sender truly; the namespace, the role
// and the instance are one.
func (m *message) envelope() *frame.Envelope {
	e := &frame.Envelope{Epoch: m.epoch, Term: m.epoch, Session: m.session}
	switch {
	case m.push != nil:
		e.Term = m.push.Term
	case m.stop != nil:
		e.Term = m.stop.Term
	}
	return e
}

// waits reports whether a frame is from an epoch that is not in view yet.
func (m *member) waits(l *history, raw *message) bool {
	us := m.addressee(l)
	return us.Judge(raw.envelope(), func() bool { return true }) == frame.Later
}

// hear is a frame at a member, judged by the rules of a follower.
func (x *Model) hear(w *World, i int, m *message) error {
	me := w.members[i]
	if me.w == nil {
		return nil
	}
	if m.kind == settles {
		if me.session != m.session {
			return nil
		}
		return x.work(w, i, workers.Acked{ID: taskID(int(m.task)), Attempt: m.attempt}, nil)
	}
	answer := &message{kind: answers, leader: m.leader, member: m.member, session: m.session, frame: m.frame}
	us := me.addressee(w.ledger)
	switch us.Judge(m.envelope(), func() bool { return true }) {
	case tasks.Accepted:
	case tasks.StaleEpoch:
		if m.push != nil { // it can never be accepted later
			for _, a := range m.push.List {
				answer.answers = append(answer.answers, tasks.Answer{ID: a.ID, Attempt: a.Attempt, Verdict: tasks.StaleEpoch})
			}
			x.send(w, answer)
		}
		return nil
	default:
		return nil
	}
	switch m.kind {
	case pushes:
		return x.work(w, i, workers.Received{Term: m.push.Term, Low: m.push.Low, List: m.push.List}, answer)
	case stops:
		s := m.stop
		answer.kind, answer.frame, answer.task, answer.attempt = stopped, 0, uint8(taskIndex(s.ID)), s.Attempt
		return x.work(w, i, workers.StopOrder{Term: s.Term, ID: s.ID, Attempt: s.Attempt, Serial: s.Serial, Status: s.Status},
			answer)
	}
	answer.kind, answer.frame, answer.held = synced, 0, me.w.Holding()
	slices.SortFunc(answer.held, func(a, b tasks.Held) int { return cmp.Compare(a.ID, b.ID) })
	x.send(w, answer)
	return nil
}
