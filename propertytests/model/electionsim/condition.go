package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// conditionID is the one condition that roles of a schedule depend on.
const conditionID = 1

// elsewhereTerm is a term that a process has in another bucket, by another session, as that one has
// told last. It begins, is extended or not, and ends as it likes: nothing is known of why.
type elsewhereTerm struct {
	term  uint64
	until record.Instant // on the process's own scale
	ttl   time.Duration
	// awake is since when the process is not paused: until then it could not do anything.
	awake time.Duration
	// due is before when no word comes: the words come in their order.
	due time.Duration
}

// depends reports whether a role is led only while its process has a term elsewhere.
func (w *world) depends(role string) bool {
	for i := range w.plan.Roles {
		if roleName(i) == role {
			return w.plan.Depending&(1<<i) != 0
		}
	}
	return false
}

// waits reports whether p is not to lead a role, since it has no term elsewhere.
func (p *process) waits(role string) bool { return p.w.depends(role) && p.elsewhereTerm.term == 0 }

// leadElsewhere is the other session of a process, to the end of the life of that. In the quiet
// every other process has a term there, which stays.
func (p *process) leadElsewhere() {
	w, life := p.w, p.life
	if w.plan.Depending == 0 {
		return
	}
	draw := func(n int) int { return w.draws.IntN(n) }
	p.elsewhereTerm = elsewhereTerm{ttl: time.Duration(300+draw(2500)) * time.Millisecond, awake: w.now}
	term := uint64(0)
	var beat func()
	beat = func() {
		if p.life != life {
			return
		}
		ttl := p.elsewhereTerm.ttl
		switch {
		case w.quiet && p.slot%2 == 1:
			term = 0
		case w.quiet && term == 0, term == 0 && draw(6) == 0, !w.quiet && draw(40) == 0:
			w.ids++ // another one, also in the place of one that nobody has seen end
			term = uint64(w.ids)
		case !w.quiet && draw(30) == 0:
			term = 0
		case !w.quiet && draw(12) == 0:
			w.after(time.Duration(draw(int(2*ttl))), beat) // it hangs
			return
		}
		p.tellElsewhere(term, p.lasts(ttl*4/5))
		w.after(ttl/5, beat)
	}
	w.after(time.Duration(draw(int(time.Second))), beat)
}

// tellElsewhere tells the machine about the term elsewhere, now and then late.
func (p *process) tellElsewhere(term uint64, lasts time.Duration) {
	w, life, e := p.w, p.life, &p.elsewhereTerm
	until := p.holder(w.now + lasts)
	at := w.now
	if !w.quiet && w.draws.IntN(10) == 0 {
		at += time.Duration(w.draws.Int64N(int64(e.ttl)))
	}
	e.due = max(at, e.due)
	w.at(e.due, func() {
		if p.life == life {
			p.hand(protocol.Condition{ID: conditionID, Term: term, Until: until})
		}
	})
}

// hearElsewhere notes what the machine is told; a term that is over when it hears of it is none.
func (p *process) hearElsewhere(ev protocol.Event) {
	e, now := &p.elsewhereTerm, p.holder(p.w.now)
	if e.term != 0 && e.until <= now {
		e.term = 0
	}
	if c, ok := ev.(protocol.Condition); ok {
		e.term, e.until = c.Term, c.Until
		if c.Until <= now {
			e.term = 0
		}
	}
}

// checkDue: what depends on a term elsewhere ends when that one ceases to be trusted, and not when
// something else happens next.
func (p *process) checkDue() {
	w, e := p.w, &p.elsewhereTerm
	if e.term == 0 {
		return
	}
	ended := max(p.when(e.until), e.awake)
	for role, t := range p.work {
		if w.depends(role) && t.leading && w.now > ended+2*tick {
			w.violate("E11: %s leads %s at epoch %d still, %v after the term elsewhere has ended", p, role, t.epoch,
				w.now-ended)
		}
	}
}

// checkDepends checks E11 after a step, when belief has been taken up.
func (p *process) checkDepends() {
	for role, t := range p.work {
		if !t.leading || !p.w.depends(role) {
			continue
		}
		if e := &p.elsewhereTerm; e.term == 0 || e.term != t.under {
			p.w.violate("E11: %s leads %s at epoch %d under term %d elsewhere, and has term %d there", p, role, t.epoch,
				t.under, e.term)
		}
	}
}

// checkClaims: nobody begins to claim a role that depends on a term that it does not have.
func (p *process) checkClaims(role string) {
	if p.waits(role) {
		p.w.violate("E11: %s claims %s without the term elsewhere", p, role)
	}
}
