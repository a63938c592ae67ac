package electionsim

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// When the bucket has lost what it had acknowledged, less is promised
// (docs/explanation/guarantees.md), and looked at here:
//
//	E1  nobody believes in a term whose record is lost for longer than by the beats before that, or while a rotation is
//	    open; and two believe at once, for as long at most, only if
//	      - the record of the one is lost, and the other was claimed by somebody who had not been shown it, or after
//	        such a one, or after somebody who gave away an older term that the loss had brought back; or a rotation of
//	        it is open
//	      - the last beat of the one is lost, so that others ended its session sooner than it knows
//	      - the one's lease or role was overwritten by mistake: at its revision had stood something else, which is lost
//	      - the other's claimant took the session of the one for dead, since a later lease of it was lost
//	E2  nobody leads at an epoch below one that it has been shown of the role, or below what it knew when it claimed it;
//	    and a process that is told of a write of its own below what it knew has ended; a term begins after one above it
//	    only if its claimant took the session of this one for dead, since a later lease of it was lost
//	E3  at a resource none lands below what has landed, even if the leader is refused
//
// The other promises hold as ever, once every doubt is settled.

// checkStands notes when the record that grants a term, or every one of its session, is lost; and
// when the same claim has landed again, at the same revision.
func (p *process) checkStands(t *work) {
	w := p.w
	if w.lostAt == 0 {
		return
	}
	record := w.store.at(t.epoch)
	switch stands := record != nil && record.entry.Role.Token == t.shows && w.store.has(p.peer(), t.session); {
	case stands && t.lostAt > 0:
		t.lostAt, t.records = 0, append(t.records, record)
	case !stands && t.lostAt == 0:
		t.lostAt = w.lostAt
		if w.stray != nil && p.feed != nil && p.feed.in == w.stray {
			t.lostAt = w.now // that replica has only just shown the claim
		}
		w.Counts.LostTerms++
	}
}

// has reports whether a record of a session was ever written, and is not lost.
func (s *store) has(p record.Peer, session uint64) bool {
	return slices.ContainsFunc(s.keys[record.LeaseKey(p)], func(c *commit) bool {
		return c.entry.Lease.Session == session || c.entry.Revision == session
	})
}

// outlastsLoss is until when at most a process believes in a term whose record is lost. A beat that
// is acknowledged after that ends it, so it lasts as long as those before. Only while a rotation is
// open may the watch have come to later revisions and the term continue: for as long again, until
// the next heartbeat; and who stands still just then believes by the last one.
func (p *process) outlastsLoss(t *work) time.Duration {
	lasts := p.cfg.TTL - p.cfg.Margin
	if t.rotating {
		lasts = 3*lasts + p.cfg.Heartbeat
	}
	return t.lostAt + p.lasts(lasts) + tick
}

// checkLost: in a term whose record is lost nobody believes for longer than that.
func (p *process) checkLost(t *work) {
	p.checkStands(t)
	if t.lostAt > 0 && p.until > p.outlastsLoss(t) {
		p.w.violate("E1: %s believes in epoch %d of %s until %v, later than %v; its record was lost at %v",
			p, t.epoch, t.role, p.until, p.outlastsLoss(t), t.lostAt)
	}
}

// apartByLoss reports whether two may believe at once, in t and u, by what the bucket has lost; and
// counts that.
func (w *world) apartByLoss(p *process, t *work, q *process, u *work) bool {
	if t.lostAt == 0 && (u.lostAt > 0 || u.epoch < t.epoch) || u.lostAt > 0 && u.lostAt < t.lostAt {
		p, t, q, u = q, u, p, t
	}
	switch {
	case p.restsOnLost() || q.restsOnLost():
	case w.sent[u.token].misled == p.peer() && u.epoch > t.epoch &&
		p.until <= w.store.at(u.epoch).at+p.lasts(p.cfg.TTL-p.cfg.Margin)+tick:
	case t.lostAt == 0 || p.until > p.outlastsLoss(t):
		return false
	case !t.rotating && w.sent[u.token].knew(t) && w.firstClaim(u, t.lostAt).knew(t) && !u.followsVacancy(t.lostAt):
		return false
	}
	pair := [2]uint64{t.epoch, u.epoch}
	if !w.overlap[pair] {
		w.overlap[pair] = true
		w.Counts.LostApart++
	}
	return true
}

// followsVacancy reports whether the role was given away since then, before it was claimed for u.
func (u *work) followsVacancy(since time.Duration) bool {
	return slices.ContainsFunc(u.in.keys[record.RoleKey(u.role)], func(c *commit) bool {
		return c.at >= since && c.entry.Role.Vacant && c.entry.Revision < u.term
	})
}

// lost reports whether a record that has granted t does not stand any more, or none of its session.
func (t *work) lost() bool {
	return t.lostAt > 0 || slices.ContainsFunc(t.records, func(c *commit) bool { return c.lost })
}

// restsOnLost reports whether a process believes by a beat that was lost, and its session was ended
// since; or in what was overwritten by mistake.
func (p *process) restsOnLost() bool {
	since := p.mistakenAt
	if !p.w.lives(p) {
		since = max(since, p.beatLostAt)
	}
	return since > 0 && p.until <= since+p.lasts(p.cfg.TTL-p.cfg.Margin)+tick
}

// lives reports whether the lease of a process that stands is of its session, and has not ended it.
func (w *world) lives(p *process) bool {
	c := w.store.newest(record.LeaseKey(p.peer()))
	return c != nil && c.entry.Form == record.FormRecord && c.entry.Lease.Alive() &&
		(c.entry.Lease.Session == p.session || c.entry.Revision == p.session)
}

// mistake notes that p has overwritten what it, in this life, was never shown: it has the revision
// of something that was.
func (w *world) mistake(p *process, c *commit) {
	past := w.store.keys[c.key]
	if w.lostAt == 0 || len(past) < 2 || c.entry.Kind == record.KindMember {
		return
	}
	over := past[len(past)-2]
	_, shown := p.told[&over.entry]
	if over.at <= w.lostAt || c.life == p.life && (shown || over.by == p && over.life == p.life) {
		return
	}
	owner := over.entry.Peer
	if over.entry.Kind == record.KindRole {
		owner = over.entry.Role.Holder()
	}
	for _, q := range w.members {
		if q.peer() == owner {
			w.Counts.Mistaken++
			q.mistakenAt = w.now
		}
	}
}

// byLostBeat reports whether a process may believe in its session by a beat that is lost, until
// then.
func (p *process) byLostBeat(until time.Duration) bool {
	return p.beatLostAt > 0 && until <= p.beatLostAt+p.lasts(MaxTTL)
}

// misled is who holds a role whose session a process takes for dead by a lease that is lost, nobody
// for none.
func (p *process) misled(role string) (nobody record.Peer) {
	v := p.m.View()
	r := v.Role(role)
	if p.w.lostAt == 0 || r == nil || r.Form != record.FormRecord || r.Role.Vacant {
		return nobody
	}
	holder := r.Role.Holder()
	known := v.Peer(holder)
	if known == nil {
		return nobody
	}
	if stands := p.w.store.at(known.Revision); stands != nil && stands.key == record.LeaseKey(holder) {
		return nobody
	}
	return holder
}

// overMisled reports whether the term at an epoch was claimed over one of p by the process that
// took its session for dead by a lease that is lost: before p was shown its own record, as it may
// be.
func (w *world) overMisled(p *process, epoch uint64) bool {
	c := w.store.at(epoch)
	return c != nil && w.sent[c.entry.Role.Token].misled == p.peer()
}

// checkEnds: a process that is told that a write of its own won at or below a revision that it knew
// when it sent that has ended. A win over nothing may be of another bucket: the watch tells.
func (p *process) checkEnds(x protocol.Write, ev protocol.Written, known uint64) {
	if ev.Outcome != record.Won || ev.Revision > known || !p.alive || p.paused {
		return
	}
	if over := x.Expect == 0 && x.GuardKey == ""; over {
		p.below[ev.Revision] = true
	} else {
		p.w.violate("E2: %s continues though it knew of revision %d and its write of %s has got %d", p, known, x.Key,
			ev.Revision)
	}
}

// checkShown: a process that has been shown such a win over nothing has ended.
func (p *process) checkShown(ev protocol.Event) {
	if e, is := ev.(protocol.Delivered); is && p.alive && p.below[e.Revision] {
		p.w.violate("E2: %s continues though a write of its own over nothing is shown at %d, below what it knew", p,
			e.Revision)
	}
	if _, whole := ev.(protocol.SnapshotDone); whole {
		clear(p.below)
	}
}

// checkRises: within a life, no term begins at an epoch below a record of its role that was shown
// before, or below anything that was known when it was first claimed.
func (p *process) checkRises(t *work) {
	if s, claimed := p.w.sent[t.shows]; claimed && t.epoch <= s.known {
		p.w.violate("E2: %s leads %s at epoch %d, after it knew of revision %d", p, t.role, t.epoch, s.known)
	}
	if highest := p.highest[t.role]; t.epoch < highest {
		p.w.violate("E2: %s leads %s at epoch %d, after it was shown a record at %d", p, t.role, t.epoch, highest)
	}
}
