package tasks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// see lets a member's view have all that the bucket has. Its scheduler is told of the members once
// the view has carried the scheduler's own epoch, and of every death.
func (x *Model) see(w *World, i int) error {
	m := *w.members[i]
	before := m.view(w.ledger).epoch
	m.seen = len(w.ledger.log)
	w.members[i] = x.keepMember(i, &m)
	if now := m.view(w.ledger).epoch; now != before && now != 0 {
		x.report(w, i)
	}
	for k, l := range w.leaders[:w.terms] {
		if l.s == nil || l.host != i || int(l.epoch-firstRevision) >= m.seen {
			continue
		}
		if err := x.inform(w, k, m.seen); err != nil {
			return err
		}
	}
	return nil
}

// inform tells a scheduler of the members, as the log says up to seen.
func (x *Model) inform(w *World, k, seen int) error {
	gone, described := map[uint64]bool{}, map[uint64]bool{}
	for _, f := range w.ledger.log[:seen] {
		gone[f.session] = gone[f.session] || f.kind == deathFact
		described[f.session] = described[f.session] || f.kind == memberFact
	}
	var list []tasks.Member
	for _, f := range w.ledger.log[:seen] {
		if f.kind == leaseFact && !gone[f.session] {
			d := described[f.session]
			list = append(list, tasks.Member{
				Instance: instance(f.who), Session: f.session, Described: d, Works: d, Own: f.who == w.leaders[k].host,
				Slots: x.cfg.Slots, Kinds: []string{policy.Kind}, Alone: true,
			})
		}
	}
	if err := x.tell(w, k, tasks.Members{List: list}); err != nil {
		return err
	}
	from := w.leaders[k].knows
	for _, f := range w.ledger.log[from:seen] {
		if f.kind == deathFact {
			if err := x.tell(w, k, tasks.Dead{Session: f.session}); err != nil {
				return err
			}
		}
	}
	l := *w.leaders[k]
	l.knows = seen
	w.leaders[k] = x.keepLeader(k, &l)
	return nil
}

// lapse ends belief in a session: handlers are cancelled, a scheduler stops. Nothing of it counts
// any more.
func (x *Model) lapse(w *World, i int) {
	m := member{last: w.members[i].session}
	w.members[i] = x.keepMember(i, &m)
	for k, l := range w.leaders[:w.terms] {
		if l.host == i && l.s != nil {
			x.retire(w, k)
		}
	}
}

// work gives a worker an event and carries out what it wants; then is the answer to the one that
// asked.
func (x *Model) work(w *World, i int, ev workers.Event, answer *message) error {
	m := *w.members[i]
	m.w = snapshot.Clone(x.cloner, m.w)
	if answer != nil { // to a frame, whose sender may be newer
		m.term = max(m.term, int(answer.leader))
	}
	for _, e := range m.w.Step(ev, nil) {
		switch e := e.(type) {
		case workers.Reply:
			answer.answers = e.Answers
		case workers.Start:
			t := taskIndex(e.Assignment.ID)
			m.runs[t] = liveHandler{attempt: e.Assignment.Attempt, live: true}
			if err := x.begins(w, i, t, e.Assignment.Attempt); err != nil {
				return err
			}
		case workers.Halt:
			if r := &m.runs[taskIndex(e.ID)]; r.live && r.attempt == e.Attempt {
				r.halted = true
			}
		case workers.Forget:
			if r := &m.results[taskIndex(e.ID)]; r.attempt == e.Attempt {
				*r = handlerResult{}
			}
		}
	}
	w.members[i] = x.keepMember(i, &m)
	if answer != nil {
		x.send(w, answer)
	}
	return nil
}

// begins checks that no other handler of the task runs, and that attempts rise.
func (x *Model) begins(w *World, i, t int, a tasks.Attempt) error {
	for j, m := range w.members {
		if r := m.runs[t]; r.live {
			return fmt.Errorf("two live handlers of %s: attempt %s at %s and %s at %s", taskID(t), show(r.attempt), instance(j),
				show(a), instance(i))
		}
	}
	l := w.ledger.copied()
	if old := l.largest[t]; a.Compare(old) <= 0 {
		return fmt.Errorf("%s runs attempt %s after %s", taskID(t), show(a), show(old))
	}
	l.largest[t], l.ended[t] = a, 0
	w.ledger = x.keepLedger(l)
	return nil
}

func show(a tasks.Attempt) string {
	if a.IsZero() {
		return "none"
	}
	return fmt.Sprintf("%d.%d", a.Epoch-firstRevision, a.N)
}

// end is the return of a handler.
func (x *Model) end(w *World, i, t int, v tasks.Verb) error {
	m := *w.members[i]
	r := m.runs[t]
	m.runs[t] = liveHandler{}
	if !r.halted {
		m.results[t] = handlerResult{r.attempt, v}
	}
	if l := w.ledger; l.largest[t] == r.attempt {
		c := l.copied()
		c.ended[t] = v
		w.ledger = x.keepLedger(c)
	}
	w.members[i] = &m
	if v == tasks.Released {
		m.draining = true
		if err := x.work(w, i, workers.Drain{}, nil); err != nil {
			return err
		}
	}
	if err := x.work(w, i, workers.Ended{ID: taskID(t), Attempt: r.attempt}, nil); err != nil {
		return err
	}
	x.report(w, i)
	return nil
}

// report brings what is not settled to the leader in view, but for what is on its way already.
func (x *Model) report(w *World, i int) {
	m := w.members[i]
	if m.w == nil || m.cut {
		return
	}
	epoch := m.view(w.ledger).epoch
	for k, l := range w.leaders[:w.terms] {
		if l.s == nil || l.epoch != epoch {
			continue
		}
		for t, r := range m.results[:x.cfg.Tasks] {
			if r.verb == 0 || slices.ContainsFunc(w.net.list, func(o *message) bool {
				return !o.late && o.kind == reports && int(o.leader) == k && int(o.member) == i && int(o.task) == t
			}) {
				continue
			}
			x.send(w, &message{
				kind: reports, leader: uint8(k), member: uint8(i), session: m.session, task: uint8(t), attempt: r.attempt,
				verb: r.verb,
			})
		}
	}
}

// store carries out a conditional write, and checks an outcome: the first one, of the largest
// attempt that was started, and of one that has succeeded if it says so.
func (x *Model) store(w *World, m *message) (record.Outcome, uint64, error) {
	if w.ledger.sequence(m.on) != m.expect {
		return record.Refused, 0, nil
	}
	l := w.ledger.copied()
	if m.record.Kind == outcome {
		id := strings.TrimPrefix(m.record.Subject, "q.")
		t, o := taskIndex(id), m.record.Outcome
		switch {
		case l.newest(m.record.Subject).Kind != submission:
			return 0, 0, fmt.Errorf("T1: a second outcome of %s", id)
		case o.Status == tasks.StatusSucceeded && o.Attempt != l.largest[t]:
			return 0, 0, fmt.Errorf("T2: a late outcome of %s: attempt %s, while %s was started", id, show(o.Attempt),
				show(l.largest[t]))
		case o.Status == tasks.StatusSucceeded && l.ended[t] != tasks.Succeeded:
			return 0, 0, fmt.Errorf("T2: attempt %s of %s has not succeeded", show(o.Attempt), id)
		case o.Cause == tasks.CauseMaxAttempts && (o.Attempt != l.largest[t] || l.ended[t] != tasks.Failed):
			return 0, 0, fmt.Errorf("T2: attempt %s of %s has not failed", show(o.Attempt), id)
		}
	}
	written := *m.record
	if x.cfg.Piecemeal && m.on == written.Subject {
		written.Over = m.expect
	}
	r := x.publish(w, l, &written)
	x.history(w, r.Subject)
	return record.Won, r.Sequence, nil
}
