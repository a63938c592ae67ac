package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// retention is after how long the server removes a lease that stands idle: short, so that it has to
// be written again within a run.
const retention = 12 * time.Second

// beatsBy reports whether a process beats by the key: its lease, or the key beside it.
func (p *process) beatsBy(key string) bool {
	return key == record.LeaseKey(p.peer()) || key == record.IdleKey(p.peer())
}

// expireInTime is the server that removes a lease or an idle beat which is not written again in its
// time, and puts a marker there. It never does that to a lease whose owner lives.
func (w *world) expireInTime(c *commit, ttl time.Duration) {
	if c.entry.Kind == record.KindIdle {
		w.Counts.IdleBeats++
	}
	alive := c.entry.Kind == record.KindLease && c.entry.Form == record.FormRecord && c.entry.Lease.Alive()
	if ttl == 0 || !alive && c.entry.Kind != record.KindIdle {
		return
	}
	in := w.store
	w.after(ttl, func() {
		if in != w.store || in.newest(c.key) != c {
			return
		}
		w.Counts.Expired++
		if alive {
			w.checkExpired(c)
		}
		w.committed(in.put(w.now, c.key, nil, true))
	})
}

// checkExpired: no lease is removed by the server whose owner believes in its session.
func (w *world) checkExpired(c *commit) {
	for _, p := range w.members {
		if p.alive && p.peer() == c.entry.Peer && p.session != 0 && w.lives(p) && p.when(p.m.LeaseUntil()) > w.now {
			w.violate("I1: the lease of %s has expired, which believes in its session: %s", p, c)
		}
	}
}

// checkIdleJudgement: a process that ends an idle session has a watch that shows idle beats, and
// had been shown something that was written when the last beat was half its lease old. Or a role is
// said to be held by that session, it is that of a former process of the same name, or it is said
// not to answer.
func (p *process) checkIdleJudgement(lease *commit) {
	w := p.w
	if lease.entry.Peer == p.peer() || p.blamed[lease.entry.Revision] || w.hasHeld(lease) {
		return
	}
	last, ttl := lease.at, lease.entry.Lease.TTL()
	number := lease.entry.Lease.Beat
	for _, b := range w.store.keys[record.IdleKey(lease.entry.Peer)] {
		i := b.entry.Idle
		switch {
		case b.entry.Form != record.FormRecord || i.Lease != lease.entry.Revision || i.Beat <= number:
		case b.at > p.shownAt: // it may have taken the place of the last one that could be shown
			return
		default:
			last, ttl, number = b.at, i.TTL(), i.Beat
		}
	}
	if half := last + p.lasts(ttl/2) - rounding; p.shownAt < half || p.feed != nil && !p.feed.wide {
		w.violate("%s judges %s, whose last beat was at %v, by what was written until %v", p, lease, last, p.shownAt)
	}
}

// checkDuplicate: a process that ends since another one uses its name has not been alone since it
// began.
func (p *process) checkDuplicate() {
	for _, q := range p.w.members {
		if q != p && q.peer() == p.peer() && (q.alive || q.since >= p.since) {
			return
		}
	}
	p.w.violate("%s ends as a duplicate, and was the only process of its name since %v", p, p.since)
}

// undead is a session whose process is gone, and which somebody has yet to end: one who leads, or
// who finds that the server has removed its lease (rule B1).
func (w *world) undead() string {
	for _, key := range w.store.all {
		c := w.store.newest(key)
		if c == nil || c.entry.Kind != record.KindLease || c.entry.Form != record.FormRecord ||
			!c.entry.Lease.Alive() || c.entry.Peer.Class != record.Candidate {
			continue
		}
		owned := false
		for _, p := range w.members {
			owned = owned || p.alive && p.peer() == c.entry.Peer
		}
		if !owned {
			return "nobody has ended " + c.String()
		}
	}
	return ""
}
