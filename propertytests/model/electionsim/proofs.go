package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// proofsAtOnce is how many callers ask for a proof close to each other. Callers share one write,
// unless they ask after it was sent.
const proofsAtOnce = 3

// prove lets several callers ask whether a process leads a role, and checks each answer.
func (p *process) prove(role string) {
	w, life := p.w, p.life
	ask := func() {
		if !p.alive || p.life != life {
			return
		}
		asked := w.now
		p.hand(protocol.Validate{Role: role, ID: w.command(p, func(d protocol.Done) {
			if d.Err == nil {
				w.Counts.Validated++
				p.checkProof(role, asked)
			}
		})})
	}
	ask()
	for range proofsAtOnce - 1 {
		w.after(w.between(0, 2*p.cfg.OpTimeout), ask)
	}
}

// checkProof checks what ValidateToken promises: at some moment since the question was asked, the
// record of the role was one of this session. A store that has lost records proves nothing.
func (p *process) checkProof(role string, asked time.Duration) {
	w := p.w
	s := w.store
	if w.lostAt > 0 || w.stray != nil || p.strayed || s.restored || s.deleted || s.first != firstRevision {
		return
	}
	past := s.keys[record.RoleKey(role)]
	for i := len(past) - 1; i >= 0; i-- {
		c := past[i]
		if c.entry.Form == record.FormRecord && p.holds(&c.entry.Role) {
			return
		}
		if c.at < asked {
			break
		}
	}
	w.violate("%s is told at %v that it leads %s, and at no moment since %v was the record its own", p, w.now, role, asked)
}

// holds reports whether a record says that the present session leads.
func (p *process) holds(r *record.Role) bool {
	return !r.Vacant && r.ID == p.instance && r.Session == p.session
}
