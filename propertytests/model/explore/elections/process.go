package elections

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

const maxRoles = 2

// memberState is one member: the real machine and what its driver knows. It is never changed: a
// step makes another one.
type memberState struct {
	part snapshot.Part

	m      *protocol.Machine // nil: it does not run
	now    record.Instant    // on its own clock; both scales are one here
	paused bool
	ended  bool   // closed or failed for good, until it is started again
	ids    uint64 // names handed out, in all its lives
	number uint64 // of its session, 0: none
	synced bool   // has had a whole snapshot
	joined bool   // its roles
	work   [maxRoles]roleWork

	// Read from the machine after each step.
	until record.Instant // belief in its terms ends then
	lease record.Instant // and in its session
	due   bool           // it wants a Tick
}

// roleWork is what a term runs.
type roleWork struct {
	term, epoch uint64
	leading     bool
	drained     bool
}

// runs reports whether the handlers of a term may still be at it.
func (k roleWork) runs() bool { return k.term != 0 && !k.drained }

func (p *memberState) alive() bool { return p.m != nil }

// hears reports whether a process takes events.
func (p *memberState) hears() bool { return p.m != nil && !p.paused }

// leads reports whether a process believes, now, that it leads a role.
func (p *memberState) leads(role int) bool {
	return p.m != nil && p.work[role].leading && p.now < p.until
}

// works is for how many roles a process leads, or still works.
func (p *memberState) works() (n int) {
	for _, k := range p.work {
		if k.leading || k.runs() {
			n++
		}
	}
	return n
}

// stimulus is one event for a machine. Two that are equal are the same to the same process.
type stimulus struct {
	kind     stimulusKind
	entry    *wonWrite
	snapshot *storeState
	width    protocol.Widen // of the watch
	write    protocol.WriteID
	outcome  record.Outcome
	revision uint64
	role     uint8
	term     uint64
	from     uint8
	ok       bool
	repeated bool
	balance  bool // asked for its sake
}

type stimulusKind uint8

const (
	tick stimulusKind = iota
	delivered
	watched // a new watch and its whole snapshot
	written
	drained
	asked
	answered
	stepDown
	transfer
	closing
	started
	joining
)

// reaction is what a process becomes, and wants.
type reaction struct {
	to      *memberState
	effects []protocol.Effect
	letters []*letter // of the writes among them, in order
	err     error
}

type cause struct {
	p *memberState
	s stimulus
}

// react steps a machine. Equal causes are looked up: most states differ in what others do
// meanwhile.
func (x *Model) react(i int, p *memberState, s stimulus) *reaction {
	key := cause{p, s}
	if r, ok := x.reactions.Get(key); ok {
		return r
	}
	r := x.step(i, p, s)
	x.reactions.Put(key, r)
	return r
}

func (x *Model) step(i int, p *memberState, s stimulus) *reaction {
	q := *p
	r := &reaction{}
	x.source, x.owner = &q.ids, uint64(i)
	now := record.Now{Holder: p.now, Observer: p.now}
	if s.kind == started {
		q.m = protocol.New(x.cfg.machine(i, x.newID))
		q.ended, q.synced, q.joined, q.paused = false, false, false, false
		q.work, q.number = [maxRoles]roleWork{}, 0
	} else {
		q.m = snapshot.Clone(x.cloner, p.m)
	}
	for _, ev := range x.events(&q, s) {
		if _, whole := ev.(protocol.SnapshotDone); whole {
			q.synced = true
		}
		done := len(r.effects)
		r.effects = q.m.Step(now, ev, r.effects)
		for _, e := range r.effects[done:] {
			if w, ok := e.(protocol.Write); ok {
				r.letters = append(r.letters, x.letter(w))
			}
			err := obeyed(i, &q, s, e)
			if err == nil {
				err = x.note(i, &q, e)
			}
			if err != nil && r.err == nil {
				r.err = err
			}
		}
	}
	if q.ended {
		q.m, q.paused, q.number = nil, false, 0
		q.work = [maxRoles]roleWork{}
	}
	q.read()
	r.to = x.keepProcess(i, &q)
	if s.kind == tick && r.to == p {
		r.err = fmt.Errorf("%s wants a Tick and does nothing with it", instance(i))
	}
	return r
}

// events are what a stimulus is to a machine.
func (x *Model) events(q *memberState, s stimulus) (all []protocol.Event) {
	role := roleName(int(s.role))
	switch s.kind {
	case tick:
		return []protocol.Event{protocol.Tick{}}
	case delivered:
		return []protocol.Event{protocol.Delivered{Entry: s.entry.event()}}
	case watched:
		all = append(all, protocol.WatchReset{Wide: s.width.All, OwnIdle: s.width.OwnIdle})
		for _, c := range s.snapshot.standing {
			if c.watched(int(x.owner), s.width) {
				all = append(all, protocol.Delivered{Entry: c.event()})
			}
		}
		return append(all, protocol.SnapshotDone{})
	case written:
		return []protocol.Event{protocol.Written{ID: s.write, Outcome: s.outcome, Revision: s.revision}}
	case drained:
		q.work[s.role].drained = true
		return []protocol.Event{protocol.Drained{Role: role, Term: s.term}}
	case asked:
		req := protocol.Request{ID: "ask", Op: protocol.OpReady, Role: role, Balance: s.balance}
		return []protocol.Event{protocol.Asked{ID: question(int(s.from), int(s.role), s.repeated), Request: req}}
	case answered:
		return []protocol.Event{protocol.Answered{Role: role, Target: instance(int(s.from)), OK: s.ok}}
	case stepDown:
		return []protocol.Event{protocol.StepDown{ID: 1, Role: role, Epoch: s.revision}}
	case transfer:
		return []protocol.Event{protocol.Transfer{ID: 2, Role: role, Epoch: s.revision, Target: instance(int(s.from))}}
	case closing:
		return []protocol.Event{protocol.Close{Timeout: time.Duration(2*x.cfg.TTL) * unit}}
	case joining:
		q.joined = true
		for n := range x.cfg.Roles {
			all = append(all, protocol.Join{Role: protocol.RoleConfig{
				Name: roleName(n), Priority: int32(x.cfg.priority(int(x.owner))), Takeover: x.cfg.Takeover,
				VacateUndrained: x.cfg.Undrained, Spread: x.cfg.Spread,
			}})
		}
	}
	return all
}

// read takes up what the machine says about itself between steps.
func (p *memberState) read() {
	p.until, p.lease, p.due = 0, 0, false
	if p.m == nil {
		return
	}
	p.until, p.lease = p.m.TrustedUntil(), p.m.LeaseUntil()
	p.due = p.m.Next(record.Now{Holder: p.now, Observer: p.now}) == 0
}

// pass lets one unit pass on the clock of a process.
func (x *Model) pass(i int, p *memberState) *memberState {
	if !p.alive() {
		return p
	}
	if q, ok := x.later.Get(p); ok {
		return q
	}
	q := *p
	q.now = p.now.Add(unit)
	q.read()
	kept := x.keepProcess(i, &q)
	x.later.Put(p, kept)
	return kept
}

// newID stands for a UUID: unique by whose it is and how many that one has had.
func (x *Model) newID() string {
	*x.source++
	return fmt.Sprintf("#%d", (x.owner+1)<<32|*x.source)
}
