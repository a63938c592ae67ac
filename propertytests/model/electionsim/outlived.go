package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// bucketOf is the bucket to which a revision belongs: the present one, unless it is of a former
// one.
func (w *world) bucketOf(revision uint64) *store {
	for _, s := range w.gone {
		if s.at(revision) != nil {
			return s
		}
	}
	return w.store
}

// outlasts is until when at most a process believes by what was acknowledged in a bucket that is
// gone: it was sent before that went, and counts from then.
func (p *process) outlasts(s *store) time.Duration {
	return s.gone + p.lasts(p.cfg.TTL-p.cfg.Margin) + time.Microsecond
}

// checkOutlived: in a term of a bucket that is gone nobody believes for longer than that.
func (p *process) checkOutlived(t *work) {
	if t.in.deleted && p.until > p.outlasts(t.in) {
		p.w.violate("E1: %s believes in epoch %d of %s until %v, later than %v; its bucket was deleted at %v",
			p, t.epoch, t.role, p.until, p.outlasts(t.in), t.in.gone)
	}
}

// apart reports whether of the terms t of p and u of q the earlier one is of a bucket that is gone,
// and counts that: the next one knows nothing of what is still believed in it, for as long as that
// may outlast it.
//
// That excuses nobody who knows: whose machine was shown the earlier term before it first sent its
// own claim has to wait, as for any record that is missing. It is excused only if the first claim
// of the role in the next bucket was of somebody who did not know: what is left of that one,
// vacated cleanly or of a dead session, says that nobody believes. A bucket that was restored
// excuses nobody.
func (w *world) apart(p *process, t *work, q *process, u *work) bool {
	if w.lostAt > 0 {
		return w.apartByLoss(p, t, q, u)
	}
	if u.epoch < t.epoch {
		p, t, u = q, u, t
	}
	of := t.in
	if of == u.in || !of.deleted || u.in.fromBackup {
		return false
	}
	if p.until > p.outlasts(of) || w.sent[u.token].knew(t) && w.firstClaim(u, 0).knew(t) {
		return false
	}
	pair := [2]uint64{t.epoch, u.epoch}
	if !w.overlap[pair] {
		w.overlap[pair] = true
		w.Counts.Apart++
	}
	return true
}

// knew reports whether the sender of a claim was shown the term t, at one of its epochs, before it
// sent that.
func (s sending) knew(t *work) bool {
	for _, c := range t.records {
		if told, ok := s.told[&c.entry]; ok && told <= s.at {
			return true
		}
	}
	return false
}

// firstClaim is the first one that has landed of the role of u in the bucket of u since then.
func (w *world) firstClaim(u *work, since time.Duration) sending {
	for _, c := range u.in.keys[record.RoleKey(u.role)] {
		if s, sent := w.sent[c.entry.Role.Token]; sent && c.at >= since {
			return s
		}
	}
	return sending{}
}

// behind is a process that is still attached to a bucket that is gone, or has yet to be started in
// the present one.
func (w *world) behind() string {
	for _, p := range w.members {
		switch {
		case p.returning:
			return p.String() + " has yet to come back"
		case p.alive && p.opened != w.store:
			return p.String() + " has not noticed that its bucket is gone"
		}
	}
	return ""
}
