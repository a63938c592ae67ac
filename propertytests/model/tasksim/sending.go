package tasksim

import (
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// frame sends to an instance: whatever session it has then gets it.
func (l *lead) frame(instance string, f sentFrame) {
	if f.push != nil {
		l.load(&f)
	}
	for _, p := range l.w.procs {
		if p.name == instance {
			if l.misses(p, &f) {
				continue
			}
			l.w.send(l.p, p, func() {
				if p.work != nil {
					p.work.take(f, 0)
				}
			})
		}
	}
}

// load reads the checkpoints that go along with a frame. A checkpoint whose task is gone is not
// sent, and now and then another one is not.
func (l *lead) load(f *sentFrame) {
	w := l.w
	f.saved = map[string]int{}
	push, list := *f.push, f.push.List
	f.push, push.List = &push, nil
	for _, a := range list {
		if a.Checkpoint != 0 {
			c, ok := w.store.record("c." + a.ID).(checkpoint)
			if !ok || w.store.last["c."+a.ID] != a.Checkpoint {
				l.unsent(&push, a)
				continue
			}
			f.saved[a.ID] = c.number
		}
		if !w.calm && w.chance(w.Unsendable) {
			l.unsent(&push, a)
			continue
		}
		push.List = append(push.List, a)
	}
}

// unsent tells the scheduler that an assignment was left out of a frame.
func (l *lead) unsent(push *tasks.Assign, a tasks.Assignment) {
	l.w.Unsent++
	l.w.tell(a.ID, "%s@%d leaves %v out of frame %d", l.p.name, l.epoch, a.Attempt, push.Frame)
	session, number := push.Session, push.Frame
	l.p.later(l.w.upTo(l.w.Delay), func() {
		l.step(tasks.Answered{
			Session: session, Frame: number,
			Answers: []tasks.Answer{{ID: a.ID, Attempt: a.Attempt, Verdict: tasks.Unsent}},
		})
	})
}

// write brings a write to the stream. It may be lost, or be under way long after it was given up;
// its answer may be lost.
func (l *lead) write(number uint64, all ...put) {
	if !l.gathers(number, all) {
		l.alone(number, all...)
	}
}

func (l *lead) alone(number uint64, all ...put) {
	w := l.w
	answered := false
	answer := func(o record.Outcome, sequence uint64) {
		if !answered {
			answered = true
			l.step(tasks.Written{Write: number, Outcome: o, Revision: sequence})
		}
	}
	l.p.later(w.Lease, func() { answer(record.Unknown, 0) })
	l.carry(func() func() {
		if !w.store.takes(all[0]) {
			w.Unstored++
			w.tell(all[0].subject[2:], "write %d of %s is never stored", number, all[0].subject)
			return func() {
				if !answered {
					answered = true
					l.step(tasks.Unstorable{Write: number, Body: "it is too large"})
				}
			}
		}
		outcome, sequence := w.store.write(all...)
		w.tell(all[0].subject[2:], "write %d of %s: %v", number, all[0].subject, outcome)
		return func() { answer(outcome, sequence) }
	})
}

// carry brings something to the stream, and the answer back.
func (l *lead) carry(deliver func() (answer func())) {
	w := l.w
	if l.p.cut && w.chance(0.5) || !w.calm && w.chance(w.Loss) {
		return
	}
	arrives := max(w.now+w.travel(), l.sent)
	if l.p.cut || !w.calm && w.chance(w.Late) {
		w.LateWrites++
		arrives = w.now + w.upTo(6*w.Lease) // flushed after a reconnect
	} else {
		l.sent = arrives
	}
	w.after(arrives-w.now, func() {
		answer := deliver()
		if !l.p.cut && (w.calm || !w.chance(w.Loss)) {
			w.after(w.travel(), func() { l.p.does(answer) })
		}
	})
}
