package elections

import (
	"fmt"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

const formRecord = record.FormRecord

func peer(i int) record.Peer {
	return record.Peer{Class: record.Candidate, Instance: instance(i)}
}

func leaseKey(i int) string { return record.LeaseKey(peer(i)) }

func roleKey(r int) string { return record.RoleKey(roleName(r)) }

// Do makes a move.
func (x *Model) Do(w World, m search.Move) (World, error) {
	err := x.apply(&w, m, nil)
	if err == nil {
		err = x.exclusive(&w)
	}
	return w, err
}

// exclusive checks E1: of no role two processes believe at once that they lead it, each by its own
// clock.
func (x *Model) exclusive(w *World) error {
	for r := range x.cfg.Roles {
		leader := -1
		for i := range x.cfg.Members {
			if !w.procs[i].leads(r) {
				continue
			}
			if leader >= 0 {
				return fmt.Errorf("E1: two leaders of %s: %s and %s", roleName(r), instance(leader), instance(i))
			}
			leader = i
		}
	}
	return nil
}

func (x *Model) apply(w *World, m search.Move, tell *story) error {
	v, i, n := parts(m)
	if f, is := faultOf[v]; is {
		w.spent[f]++
	}
	p, l := w.procs[i], w.wires[i]
	tell.move(w, m)
	switch v {
	case ticks:
		return x.hand(w, i, stimulus{kind: tick}, nil, tell)
	case land:
		return x.land(w, i, n, tell)
	case reply, timeout:
		return x.answer(w, i, n, v == timeout, tell)
	case deliver:
		next := l.copied()
		c := next.feed[0]
		next.feed = next.feed[1:]
		err := x.hand(w, i, stimulus{kind: delivered, entry: c}, next, tell)
		if l = w.wires[i]; err == nil && x.cfg.Coarse && l.watch == watching && len(l.feed) > 0 && w.procs[i].alive() {
			return x.apply(w, m, tell)
		}
		return err
	case rewatch, rewatchLagging:
		return x.rewatch(w, i, v == rewatchLagging, tell)
	case ends:
		next := l.copied()
		d := next.drains[n]
		next.drains = slices.Delete(next.drains, n, n+1)
		return x.hand(w, i, stimulus{kind: drained, role: d.role, term: d.term}, next, tell)
	case askArrives, askReturns:
		return x.carryAsk(w, i, n, v == askArrives, tell)
	case controlArrives:
		return x.carryControl(w, i, n, tell)
	case again:
		return x.restart(w, i, x.cfg.Late > 0, tell)
	case joins:
		return x.hand(w, i, stimulus{kind: joining}, nil, tell)
	case passes:
		x.passTime(w, i)
		return nil
	case pause, resume:
		q := *p
		q.paused = v == pause
		w.procs[i] = x.keepProcess(i, &q)
		return nil
	case crash:
		return x.crash(w, i)
	case evict, wipeLease, wipeRole:
		return x.interfere(w, v, i, n, tell)
	case askClose:
		return x.hand(w, i, stimulus{kind: closing}, nil, tell)
	}
	next := l.copied()
	switch v {
	case askStepDown:
		next.controls = append(next.controls, control{kind: stepDown, role: uint8(n), epoch: p.work[n].epoch})
	case askTransfer:
		role, to := n%x.cfg.Roles, n/x.cfg.Roles
		next.controls = append(next.controls, control{
			kind: transfer, role: uint8(role), to: uint8(to),
			epoch: p.work[role].epoch,
		})
	case repeatReply, repeatRequest, refusedFirst:
		next.repeatFlight(v, n)
	case repeatWatch:
		next.feed, next.watch = nil, building
	case repeatQuestion, repeatAnswer:
		next.asks = append(next.asks, next.asks[n])
		next.asks[len(next.asks)-1].late = true
	case repeatControl:
		next.controls = append(next.controls, next.controls[n])
		next.controls[len(next.controls)-1].late = true
	case delayRequest:
		next.flights[n].stage = delayed
	case delayReply:
		next.flights[n].stage = backLate
	case stall:
		if next.watch = stalled; l.watch == building {
			next.watch = blind
		}
	case flows:
		if next.watch = watching; n == 1 {
			next.compact(0)
		}
	case slow:
		next.drains[n].slow = true
	}
	w.wires[i] = x.keepWire(i, next)
	return nil
}

// hand brings an event to a process and carries out what it wants; next is its wire without what
// was brought.
func (x *Model) hand(w *World, i int, s stimulus, next *wire, tell *story) error {
	r := x.react(i, w.procs[i], s)
	w.procs[i] = r.to
	tell.effects(i, r)
	if r.err != nil {
		return r.err
	}
	if next == nil && len(r.effects) == 0 {
		return nil
	}
	if next == nil {
		next = w.wires[i].copied()
	}
	letters := r.letters
	var err error
	for _, e := range r.effects {
		switch e := e.(type) {
		case protocol.Write:
			err = next.alone(e.Key, i, err)
			next.flights = append(next.flights, flight{letter: letters[0], left: x.cfg.OpTimeout})
			letters = letters[1:]
		case protocol.RebuildWatch:
			next.rewatch()
		case protocol.Widen:
			next.width = e
			next.rewatch()
		case protocol.BeginTerm:
			err = x.grant(w, i, roleIndex(e.Role), e.Epoch, e.Token, x.awake(w, i, e.Role, err))
		case protocol.Rotated:
			err = x.grant(w, i, roleIndex(e.Role), e.Epoch, e.Token, err)
		case protocol.EndTerm:
			next.drains = append(next.drains, drain{role: uint8(roleIndex(e.Role)), term: e.Term})
		case protocol.Ask:
			next.asks = append(next.asks, ask{
				role: uint8(roleIndex(e.Request.Role)), to: uint8(member(e.Instance)), balance: e.Request.Balance,
			})
		case protocol.Done:
			x.reply(w, e)
		case protocol.Ended:
			next.crash()
		}
	}
	w.wires[i] = x.keepWire(i, next)
	return err
}

// awake checks that who begins to lead does not say that it is idle, since others may end it at
// once then.
func (x *Model) awake(w *World, i int, role string, err error) error {
	c := w.bucket.newest(leaseKey(i))
	if err != nil || c == nil || c.entry.Lease.State != record.Idle || c.entry.Lease.Session != w.procs[i].number {
		return err
	}
	return fmt.Errorf("I1: %s begins to lead %s, and its lease says that it is idle", instance(i), role)
}

// grant checks E2: epochs of a role rise, and each is granted to the process that wrote the record
// that has it.
func (x *Model) grant(w *World, i, role int, epoch uint64, token string, err error) error {
	if err != nil {
		return err
	}
	if last := w.bucket.granted[role]; epoch <= last {
		return fmt.Errorf("E2: %s leads %s at epoch %d after epoch %d", instance(i), roleName(role), epoch-firstRevision,
			last-firstRevision)
	}
	c := w.bucket.newest(roleKey(role))
	if c.entry.Revision == epoch && (c.entry.Role.ID != instance(i) || c.entry.Role.Token != token) {
		return fmt.Errorf("E2: %s leads %s by the record of %s", instance(i), roleName(role), c.entry.Role.ID)
	}
	b := *w.bucket
	b.granted[role] = epoch
	w.bucket = x.keepBucket(&b)
	return nil
}

// answer brings the outcome of a write, or says that it is unknown.
func (x *Model) answer(w *World, i, n int, unknown bool, tell *story) error {
	next := w.wires[i].copied()
	f := &next.flights[n]
	s := stimulus{kind: written, write: f.letter.id, outcome: f.outcome, revision: f.revision}
	if unknown {
		s.outcome, s.revision = record.Unknown, 0
	}
	if f.stage == delayed || f.stage == going {
		f.stage, f.left = orphan, 0
	} else {
		next.dropFlight(n)
	}
	return x.hand(w, i, s, next, tell)
}

// rewatch starts a new watch: the snapshot at once, then what is written from now on.
func (x *Model) rewatch(w *World, i int, lagging bool, tell *story) error {
	next := w.wires[i].copied()
	next.feed, next.watch = nil, watching
	from := w.bucket
	if lagging {
		from = from.before
		if c := w.bucket.standing[len(w.bucket.standing)-1]; c.watched(i, next.width) {
			next.feed = append(next.feed, c)
		}
	}
	return x.hand(w, i, stimulus{kind: watched, snapshot: from, width: next.width}, next, tell)
}

// restart begins a life, with a machine that knows nothing. One that is late joins its roles some
// time later.
func (x *Model) restart(w *World, i int, late bool, tell *story) error {
	next := w.wires[i].copied()
	next.watch, next.feed = building, nil
	p := *w.procs[i]
	w.procs[i] = &p
	w.ahead[i] = 0
	if err := x.hand(w, i, stimulus{kind: started}, next, tell); err != nil || late {
		return err
	}
	return x.hand(w, i, stimulus{kind: joining}, nil, tell)
}

// passTime lets one unit pass on one clock, or on all of them.
func (x *Model) passTime(w *World, i int) {
	for j := range x.cfg.Members {
		if !w.procs[j].alive() || x.cfg.Lead > 0 && j != i {
			continue
		}
		w.procs[j] = x.pass(j, w.procs[j])
		w.ahead[j]++
		if slices.ContainsFunc(w.wires[j].flights, func(f flight) bool { return f.left > 0 }) {
			next := w.wires[j].copied()
			for n := range next.flights {
				next.flights[n].left = max(next.flights[n].left-1, 0)
			}
			w.wires[j] = x.keepWire(j, next)
		}
	}
	x.level(w)
}

// level counts the clocks from the slowest one.
func (x *Model) level(w *World) {
	least := uint8(255)
	for j := range x.cfg.Members {
		if w.procs[j].alive() {
			least = min(least, w.ahead[j])
		}
	}
	if x.cfg.Units > 0 && least < 255 {
		w.passed += least
	}
	for j := range x.cfg.Members {
		if w.procs[j].alive() {
			w.ahead[j] -= least
		} else {
			w.ahead[j] = 0
		}
	}
}
