package elections

import (
	"fmt"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// land brings a write to the bucket.
func (x *Model) land(w *World, i, n int, tell *story) error {
	next := w.wires[i].copied()
	f := &next.flights[n]
	former := w.bucket
	b, c := x.write(w.bucket, f.letter)
	w.bucket = b
	if f.stage == orphan {
		next.dropFlight(n)
	} else if f.stage, f.outcome = back, record.Refused; c != nil {
		f.outcome, f.revision = record.Won, c.entry.Revision
	}
	w.wires[i] = x.keepWire(i, next)
	tell.landed(c)
	if c == nil {
		return nil
	}
	x.publish(w, c)
	return x.checkKill(w, former, c)
}

// publish tells every watch of a commit, and forgets what can no longer win because of it.
func (x *Model) publish(w *World, c *wonWrite) {
	for j := range x.cfg.Members {
		l := w.wires[j]
		feeds := c.watched(j, l.width) && (l.watch == watching || l.watch == stalled)
		dead := false
		for _, f := range l.flights {
			dead = dead || f.stage == orphan && f.letter.on == c.key
		}
		if !feeds && !dead {
			continue
		}
		next := l.copied()
		if feeds {
			next.receive(c)
		}
		for n := len(next.flights) - 1; n >= 0; n-- {
			if f := next.flights[n]; f.stage == orphan && f.letter.on == c.key { // the revision it expects is history
				next.dropFlight(n)
			}
		}
		w.wires[j] = x.keepWire(j, next)
	}
}

// checkKill: whose session is killed does not believe in it any more, by its own clock, unless it
// had said that it is idle.
func (x *Model) checkKill(w *World, former *storeState, c *wonWrite) error {
	if c.entry.Kind != record.KindLease || c.entry.Lease.State != record.Killed {
		return nil
	}
	i := member(c.entry.Peer.Instance)
	if old := former.newest(c.key); old != nil && old.entry.Lease.State == record.Idle {
		return nil
	}
	if p := w.procs[i]; p.alive() && p.number == c.entry.Lease.Session && p.now < p.lease {
		return fmt.Errorf("I1: the session of %s is killed, which still believes in it", instance(i))
	}
	return nil
}

// carryAsk brings a question to the one who is asked, or the answer back. A process that does not
// run, or is paused, does not answer.
func (x *Model) carryAsk(w *World, i, n int, arrives bool, tell *story) error {
	next := w.wires[i].copied()
	a := &next.asks[n]
	if !arrives {
		s := stimulus{kind: answered, role: a.role, from: a.to, ok: a.ok}
		next.asks = append(next.asks[:n], next.asks[n+1:]...)
		return x.hand(w, i, s, next, tell)
	}
	to := int(a.to)
	if a.late { // nobody awaits its answer
		s := stimulus{kind: asked, role: a.role, from: uint8(i), repeated: true, balance: a.balance}
		next.asks = append(next.asks[:n], next.asks[n+1:]...)
		w.wires[i] = x.keepWire(i, next)
		if !w.procs[to].hears() {
			return nil
		}
		return x.hand(w, to, s, nil, tell)
	}
	if !w.procs[to].hears() {
		a.stage = askBack
		w.wires[i] = x.keepWire(i, next)
		return nil
	}
	a.stage = askHeard
	w.wires[i] = x.keepWire(i, next)
	return x.hand(w, to, stimulus{kind: asked, role: a.role, from: uint8(i), balance: a.balance}, nil, tell)
}

// carryControl brings a request to the process it is for.
func (x *Model) carryControl(w *World, i, n int, tell *story) error {
	next := w.wires[i].copied()
	c := next.controls[n]
	next.controls = append(next.controls[:n], next.controls[n+1:]...)
	return x.hand(w, i, stimulus{kind: c.kind, role: c.role, from: c.to, revision: c.epoch}, next, tell)
}

// reply sends the answer to a question back, if it was one.
func (x *Model) reply(w *World, d protocol.Done) {
	if d.ID < firstQuestion || d.ID >= firstRepeated {
		return
	}
	from, role := int(d.ID-firstQuestion)/10, uint8(d.ID-firstQuestion)%10
	next := w.wires[from].copied()
	for n := range next.asks {
		if a := &next.asks[n]; a.stage == askHeard && a.role == role {
			a.stage, a.ok = askBack, d.Err == nil
			break
		}
	}
	w.wires[from] = x.keepWire(from, next)
}

// crash ends a process. Its messages may still arrive. A process that has asked it something hears
// nothing.
func (x *Model) crash(w *World, i int) error {
	q := *w.procs[i]
	q.m, q.paused, q.number, q.work = nil, false, 0, [maxRoles]roleWork{}
	q.read()
	w.procs[i] = x.keepProcess(i, &q)
	next := w.wires[i].copied()
	next.crash()
	w.wires[i] = x.keepWire(i, next)
	for j := range x.cfg.Members {
		l := w.wires[j]
		for n, a := range l.asks {
			if int(a.to) == i && a.stage == askHeard {
				next := l.copied()
				next.asks[n].stage = askBack
				w.wires[j] = x.keepWire(j, next)
				l = w.wires[j]
			}
		}
	}
	x.level(w)
	return nil
}

// interfere is a write of somebody else: an operator, or a server whose clock has jumped.
func (x *Model) interfere(w *World, v verb, i, n int, tell *story) error {
	key, e := leaseKey(i), record.Entry{Kind: record.KindLease, Peer: peer(i), Form: record.FormMarker}
	if v != wipeLease {
		key, e = roleKey(n), record.Entry{Kind: record.KindRole, Name: roleName(n), Form: record.FormMarker}
	}
	if v == evict {
		held := w.bucket.newest(key).entry.Role
		e.Form = record.FormRecord
		e.Role = record.Role{
			V: record.Version, TTLms: held.TTLms, Vacant: true, By: "operator", Reason: "evicted", Forced: true,
		}
	}
	b, c := x.put(w.bucket, key, e)
	w.bucket = b
	tell.landed(c)
	x.publish(w, c)
	return nil
}
