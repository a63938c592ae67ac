package tasks

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// Do makes a move.
func (x *Model) Do(w World, m search.Move) (World, error) {
	err := x.apply(&w, m)
	return w, err
}

func (x *Model) apply(w *World, mv search.Move) error {
	v, i, n := parts(mv)
	if f, is := faultOf[v]; is {
		w.spent[f]++
	}
	switch v {
	case arrives, lands:
		return x.arrive(w, n)
	case delays:
		x.change(w, n, func(m *message) { m.late = true })
	case repeats:
		twin := *w.net.list[n]
		twin.late = true
		x.send(w, &twin)
	case unheard:
		m := w.net.list[n]
		x.drop(w, n)
		return x.tell(w, int(m.leader), tasks.NoResponder{Session: m.session, Frame: m.frame})
	case ticks:
		l := *w.leaders[i]
		l.tick = false
		w.leaders[i] = &l
		return x.step(w, i, tasks.Tick{})
	case reads:
		if x.cfg.Piecemeal {
			return x.readOn(w, i)
		}
		return x.read(w, i)
	case rewrites:
		x.rewrite(w, n)
	case lagsReading, flows:
		l := *w.leaders[i]
		l.lags = v == lagsReading
		w.leaders[i] = x.keepLeader(i, &l)
	case renews:
		return x.tell(w, i, tasks.Reconnected{})
	case rotates:
		return x.rotate(w, i)
	case retires:
		x.retire(w, i)
	case elected, deposes:
		x.appoint(w, i)
	case passes:
		return x.pass(w)
	default:
		return x.member(w, v, i, n)
	}
	return nil
}

// member is what happens to a process.
func (x *Model) member(w *World, v moveKind, i, n int) error {
	m := *w.members[i]
	switch v {
	case sees:
		return x.see(w, i)
	case lagsView, wakes:
		m.lags = v == lagsView
	case cuts, heals:
		m.cut = v == cuts
	case crashes, lapses, leaves:
		x.lapse(w, i)
		if v == leaves { // an orderly end is declared at once
			return x.member(w, buried, i, 0)
		}
		return nil
	case buried:
		l := w.ledger.copied()
		l.add(deathFact, i, m.last)
		w.ledger = x.keepLedger(l)
		m.last = 0
	case joins:
		l := w.ledger.copied()
		if m.last != 0 {
			l.add(deathFact, i, m.last)
		}
		session := l.add(leaseFact, i, 0)
		l.add(memberFact, i, session)
		w.ledger = x.keepLedger(l)
		m = member{session: session, w: newWorker(x.cfg)}
	case succeeds, fails, releases, stopsHandler:
		verb := map[moveKind]tasks.Verb{
			succeeds: tasks.Succeeded, fails: tasks.Failed, releases: tasks.Released,
			stopsHandler: tasks.Failed,
		}[v]
		return x.end(w, i, n, verb)
	default:
		return fmt.Errorf("unknown move %d", v)
	}
	w.members[i] = x.keepMember(i, &m)
	return nil
}

// step gives a scheduler an event and carries out what it wants.
func (x *Model) step(w *World, k int, ev tasks.Event) error {
	l := *w.leaders[k]
	l.s = snapshot.Clone(x.cloner, l.s)
	effects := l.s.Step(l.now, ev, nil)
	w.leaders[k] = &l
	for _, e := range effects {
		if err := x.execute(w, k, &l, e); err != nil {
			return err
		}
	}
	if w.leaders[k] == &l {
		w.leaders[k] = x.keepLeader(k, &l)
	}
	return nil
}

// tell gives a scheduler an event of the outside, if it is there to hear it; a Tick follows.
func (x *Model) tell(w *World, k int, ev tasks.Event) error {
	l := *w.leaders[k]
	if l.s == nil {
		return nil
	}
	l.tick = true
	w.leaders[k] = &l
	return x.step(w, k, ev)
}

func (x *Model) execute(w *World, k int, l *leader, e tasks.Effect) error {
	to := func(session uint64) uint8 {
		for _, f := range w.ledger.log {
			if f.kind == leaseFact && f.session == session {
				return uint8(f.who)
			}
		}
		panic("assignment: no such session")
	}
	write := func(number uint64, r streamEntry, on string, expect uint64) {
		l.asked = append(slices.Clone(l.asked), number)
		x.send(w, &message{
			kind: writes, leader: uint8(k), member: uint8(l.host), write: number, record: &r, on: on,
			expect: expect,
		})
	}
	switch e := e.(type) {
	case tasks.WriteSeal:
		write(e.Write, streamEntry{Subject: "seal", Kind: seal, Epoch: e.Epoch, By: uint8(k + 1)}, "seal", e.Expect)
	case tasks.WriteOutcome:
		write(e.Write, streamEntry{Subject: "q." + e.ID, Kind: outcome, Outcome: e.Outcome}, "seal", e.Guard)
	case tasks.WriteNote:
		write(e.Write, streamEntry{Subject: "t." + e.ID, Kind: note, Retry: e.Retry}, "seal", e.Guard)
	case tasks.Erase:
		write(e.Write, streamEntry{Subject: "t." + e.ID, Kind: erased}, "seal", e.Guard)
	case tasks.Assign:
		x.send(w, &message{
			kind: pushes, epoch: l.epoch, leader: uint8(k), member: to(e.Session), session: e.Session,
			frame: e.Frame, push: &e,
		})
	case tasks.Stop:
		x.send(w, &message{
			kind: stops, epoch: l.epoch, leader: uint8(k), member: to(e.Session), session: e.Session,
			stop: &e,
		})
	case tasks.Sync:
		x.send(w, &message{kind: syncs, epoch: l.epoch, leader: uint8(k), member: to(e.Session), session: e.Session})
	case tasks.Settle:
		if ref, ok := e.Ref.(reference); ok {
			x.send(w, &message{
				kind: settles, leader: uint8(k), member: ref.Member, session: ref.Session, task: ref.Task, attempt: ref.Attempt,
			})
		}
	case tasks.Broken:
		return fmt.Errorf("the state of leader %d is broken: %s", k+1, e.What)
	case tasks.Fenced:
		x.retire(w, k)
	}
	return nil
}

// reference says whose report a Settle answers.
type reference struct {
	Member  uint8
	Session uint64
	Task    uint8
	Attempt tasks.Attempt
}

// rotate gives a term its next epoch: the same leader holds the role, uninterrupted.
func (x *Model) rotate(w *World, k int) error {
	l, ledger := *w.leaders[k], w.ledger.copied()
	l.epoch = ledger.add(roleFact, l.host, w.members[l.host].session)
	w.ledger, w.leaders[k] = x.keepLedger(ledger), &l
	return x.tell(w, k, tasks.Rotated{Epoch: l.epoch})
}

// retire ends a term. Messages of its leader may still arrive.
func (x *Model) retire(w *World, k int) {
	l := *w.leaders[k]
	l.s, l.feed, l.asked, l.tick = nil, nil, nil, false
	w.leaders[k] = x.keepLeader(k, &l)
	for n := len(w.net.list) - 1; n >= 0; n-- { // and nobody is there to hear
		if m := w.net.list[n]; int(m.leader) == k && m.kind >= answers && m.kind != writes && m.kind != settles {
			x.drop(w, n)
		}
	}
}

// read delivers what the stream has, but for what was overwritten.
func (x *Model) read(w *World, k int) error {
	l := *w.leaders[k]
	feed := l.feed
	l.feed = nil
	first := !l.caughtUp
	l.caughtUp = true
	w.leaders[k] = &l
	for _, r := range feed {
		if w.ledger.newest(r.Subject).Sequence != r.Sequence || w.leaders[k].s == nil {
			continue
		}
		if err := x.tell(w, k, r.event(k, 0)); err != nil {
			return err
		}
	}
	if first {
		return x.tell(w, k, tasks.CaughtUp{})
	}
	if w.leaders[k] == &l {
		w.leaders[k] = x.keepLeader(k, &l)
	}
	return nil
}

// event is what a record says to a scheduler whose reading comes to it. Of a seal of its own missed
// is since when it may have missed something.
func (r *streamEntry) event(k int, missed uint64) tasks.Event {
	id := r.Subject[2:]
	switch r.Kind {
	case submission:
		return tasks.Submitted{ID: id, Revision: r.Sequence, Policy: policy}
	case outcome:
		return tasks.Settled{ID: id, Revision: r.Sequence}
	case note:
		return tasks.Noted{ID: id, Revision: r.Sequence, Retry: r.Retry}
	case erased:
		return tasks.Noted{ID: id, Revision: r.Sequence, Gone: true}
	}
	return tasks.SealSeen{Revision: r.Sequence, Epoch: r.Epoch, Ours: int(r.By) == k+1, Missed: missed}
}

// pass lets one unit of time pass: what was not answered is unknown or said again.
func (x *Model) pass(w *World) error {
	if err := x.lost(w); err != nil {
		return err
	}
	for k := range w.leaders[:w.terms] {
		l := *w.leaders[k]
		if l.s == nil {
			continue
		}
		l.now = l.now.Add(unit)
		asked := l.asked
		l.asked = nil
		l.tick = l.tick || l.s.Next(l.now) <= 0
		w.leaders[k] = &l
		for n := len(w.net.list) - 1; n >= 0; n-- { // an answer that comes now is not waited for
			if m := w.net.list[n]; int(m.leader) == k && m.kind == outcomes {
				x.drop(w, n)
			}
		}
		for _, number := range asked {
			if err := x.tell(w, k, tasks.Written{Write: number, Outcome: record.Unknown}); err != nil {
				return err
			}
		}
		if w.leaders[k] == &l {
			w.leaders[k] = x.keepLeader(k, &l)
		}
	}
	x.history(w, "seal")
	for i := range w.members {
		x.report(w, i)
	}
	return nil
}

// lost checks T1: where nothing is on its way and nobody waits for anything, every task has its
// outcome.
func (x *Model) lost(w *World) error {
	holder, dead := w.ledger.holder()
	if dead || len(w.net.list) > 0 {
		return nil
	}
	for _, m := range w.members {
		if m.w == nil || m.cut || m.lags || m.last != 0 || m.w.Live()+m.w.Unacked() > 0 || m.draining {
			return nil
		}
	}
	for _, l := range w.leaders[:w.terms] {
		switch {
		case l.epoch != holder.revision:
			if l.s != nil {
				return nil
			}
		case l.s == nil || l.lags || len(l.asked) > 0 || l.s.Next(l.now) < time.Minute:
			return nil
		}
	}
	for t := range x.cfg.Tasks {
		if r := w.ledger.newest("q." + taskID(t)); r.Kind != outcome {
			return fmt.Errorf("T1: %s has no outcome, and nobody does anything about it", taskID(t))
		}
	}
	return nil
}
