package electionsim

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
)

// execute does what the machine wants.
func (p *process) execute(e protocol.Effect) {
	w := p.w
	w.trace.add(w.now, p, "->", e)
	switch e := e.(type) {
	case protocol.Write:
		p.count(&p.writes)
		p.checkWrite(e)
		p.send(e)
	case protocol.WriteTogether:
		p.count(&p.writes)
		p.checkTogether(e)
		p.sendTogether(e)
	case protocol.RebuildWatch:
		w.Counts.Rebuilds++
		p.rebuild()
	case protocol.Widen:
		w.Counts.Widened++
		p.width = e
		p.rewatch()
	case protocol.BeginTerm:
		p.begin(e)
	case protocol.EndTerm:
		p.end(e)
	case protocol.Rotated:
		w.Counts.Rotations++
		if t := p.work[e.Role]; t == nil || t.term != e.Term || !t.leading {
			w.violate("E4: %s: %s was rotated without a term", p, e.Role)
		} else {
			t.epoch, t.shows, t.rotating = e.Epoch, e.Token, false
			w.grant(p, t, e.Token)
		}
	case protocol.Ask:
		p.checkAsked(e)
		p.ask(e)
	case protocol.Wake:
		p.wake(e)
	case protocol.Done:
		if q := w.commands[int(e.ID)]; q != nil {
			delete(w.commands, int(e.ID))
			q.answer(e)
		}
	case protocol.Opened:
		p.session = e.Session
		p.checkOneBucket("a session", e.Session)
		w.Counts.Sessions++
	case protocol.Lost:
		p.session, p.working = 0, 0
		w.Counts.SessionsLost++
	case protocol.Ended:
		p.tellGuardOfEnd(e.Closed)
		if errors.Is(e.Fault, errDenied) {
			p.bequeath()
			p.comeBack()
		} else if err := (*protocol.DuplicateError)(nil); errors.As(e.Fault, &err) {
			w.Counts.Duplicates++
			p.checkDuplicate()
		} else if w.store.restored && errors.Is(e.Fault, protocol.ErrStoreRegressed) {
			w.Counts.Regressed++
			if w.lostAt > 0 {
				p.comeBack()
			}
		} else if p.outlived(e.Fault) || errors.Is(e.Fault, errOther) {
			p.comeBack()
		} else if e.Fault != nil {
			w.violate("%s ended by %v", p, e.Fault)
		} else {
			w.Counts.Closed++
		}
		p.stop()
	case protocol.PeerKilled:
		w.Counts.Kills++
	case protocol.RoleUnplaced:
		w.Counts.Unplaced++
	case protocol.RoleStuck:
		w.Counts.Stuck++
	}
}

// begin starts the work of a term.
func (p *process) begin(e protocol.BeginTerm) {
	w := p.w
	w.Counts.Terms++
	p.checkOneBucket("a term of "+e.Role, e.Epoch)
	w.led[e.Role] = true
	if w.quiet {
		w.Counts.QuietTerms++
	}
	if c, ok := p.claims[e.Token]; ok && c.unknown {
		w.Counts.UnknownClaims++
	}
	if t := p.work[e.Role]; t != nil && (t.leading || !t.drained) {
		w.violate("E4: %s begins a term of %s before the last one has drained", p, e.Role)
	}
	t := &work{
		role: e.Role, term: e.Epoch, epoch: e.Epoch, session: e.Session, token: e.Token, shows: e.Token,
		leading: true, under: e.Under,
	}
	p.work[e.Role] = t
	p.busy = append(p.busy, t)
	w.grant(p, t, e.Token)
	p.serve(t)
	p.checkCap()
	p.checkAwake("a term of " + e.Role)
	if w.chance(w.plan.Noise.Returns) {
		life, failed := p.life, w.rng.IntN(3) > 0
		w.after(w.between(0, 3*time.Second), func() {
			if p.life == life && t.leading {
				w.Counts.Returned++
				p.hand(protocol.Returned{Role: t.role, Term: t.term, Failed: failed})
			}
		})
	}
}

// end cancels the work of a term. Most work returns soon, some late, some never.
func (p *process) end(e protocol.EndTerm) {
	w := p.w
	w.Counts.Causes[e.Cause.String()]++
	t := p.work[e.Role]
	if t == nil || !t.leading || t.term != e.Term {
		w.violate("E4: %s ends a term of %s that it does not lead", p, e.Role)
		return
	}
	t.leading = false
	if e.Cause == protocol.Evicted {
		p.checkEvicted(t)
	}
	d := w.between(0, 20*time.Millisecond)
	if w.chance(w.plan.Noise.SlowDrain) {
		if d = w.between(0, 3*p.cfg.Drain); w.rng.IntN(4) == 0 {
			t.stuck = true
			return
		}
	}
	p.drainAfter(t, d)
}

func (p *process) drainAfter(t *work, d time.Duration) {
	life := p.life
	p.w.after(d, func() {
		if p.life == life && !t.drained {
			p.drain(t)
		}
	})
}

// drain reports that the work of a term has ended, which a paused process cannot.
func (p *process) drain(t *work) {
	if p.paused {
		p.drainAfter(t, 50*time.Millisecond)
		return
	}
	t.drained = true
	p.hand(protocol.Drained{Role: t.role, Term: t.term})
}
