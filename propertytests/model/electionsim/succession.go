package electionsim

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// The longest times of a message, a timer and a new watch when nothing goes wrong.
const (
	hop      = time.Millisecond      // a request to the store, or its answer
	delivery = 2 * time.Millisecond  // from a commit to what a watch shows
	tick     = time.Millisecond      // by which a timer is late
	watching = 60 * time.Millisecond // until a new watch is made
)

// messages is what it takes from the last beat of a leader until another one leads, beside its
// lease: see leaderless.
const (
	stands   = hop + delivery
	kills    = tick + hop + delivery
	awake    = hop + hop + hop + max(hop, delivery)
	claimed  = hop + max(hop, delivery)
	messages = stands + kills + awake + claimed
	guardEnd = evidence + 2*hop + 4*hop // one refusal, if a beat was under way
)

// loss is what is lost together with a leader.
type loss int

const (
	alone loss = iota
	itsLease
	itsRole
	both
)

// crashLeaders crashes the leaders one after the other when everything has converged, and wants
// their roles to be led again in time (E5). Each comes back before the next one goes.
func (w *world) crashLeaders() {
	orphaned := map[string]bool{}
	for i := range w.plan.Roles {
		role := roleName(i)
		if w.violated != nil || orphaned[role] {
			continue
		}
		w.runUntil(w.now + w.between(0, MaxTTL/5)) // to somewhere between two beats, idle ones too
		p := w.leader(role)
		if p == nil {
			continue // stuck work keeps it
		}
		var roles []string
		for i := range w.plan.Roles {
			if r := roleName(i); w.leader(r) == p && w.follows(r, p) {
				roles, orphaned[r] = append(roles, r), true
			}
		}
		if !orphaned[role] {
			w.Counts.Irreplaceable++
			continue
		}
		w.crashLeader(p, role, roles)
		w.after(w.between(0, p.cfg.TTL), p.restart)
		w.converge(w.now)
	}
}

// crashLeader crashes the leader of some roles, every second time with its lease, the record of one
// role, or both, and looks when the longest time is over that may be without a leader.
func (w *world) crashLeader(p *process, role string, roles []string) {
	lost := loss(max(0, w.rng.IntN(6)-2))
	within := w.leaderless(p, lost)
	if w.plan.Guarded && lost == alone {
		within = guardEnd + messages
	}
	w.trace.add(w.now, p, "crash", "when all is quiet")
	began := w.now
	clear(w.led)
	p.crash()
	destroy := func(key string) {
		w.committed(w.store.put(w.now, key, garbage[w.rng.IntN(len(garbage))], w.rng.IntN(2) == 0))
	}
	if lost == itsLease || lost == both {
		destroy(record.LeaseKey(p.peer()))
	}
	if lost == itsRole || lost == both {
		destroy(record.RoleKey(role))
	}
	watches, blind := w.watchesMade(),
		slices.ContainsFunc(w.members, func(q *process) bool { return q.alive && q.feed == nil })
	w.runUntil(began + within)
	if blind || w.watchesMade() > watches {
		w.runUntil(w.now + watching + messages)
	}
	for _, r := range roles {
		if !w.led[r] {
			w.violate("E5: nobody leads %s within %v after the crash of %s", r, within, p)
		}
	}
	if w.Counts.LeadersCrashed++; lost != alone {
		w.Counts.WithRecords++
	}
	w.Counts.LedInTime += len(roles)
	w.Counts.CrashedIn = 1
}

// watchesMade is how many watches those who live have begun to make. Now and then one makes
// another: to find out whether the store went back or a replica lagged, half a minute ago. Nobody
// claims without one, or sees meanwhile what is lost.
func (w *world) watchesMade() (n int) {
	for _, p := range w.members {
		if p.alive {
			n += p.rebuilds
		}
	}
	return n
}

// leaderless is how long at most a role may be without a leader after p has crashed that led it,
// when all else goes well:
//
//	TTL·(1+ρ) + 15 messages' milliseconds, ρ being how slow the slowest clock is
//
// The last beat of p may be under way still. A process that has seen it waits for the TTL in it by
// its own clock, and kills the session. A process that sees the kill claims the role. It may have
// to send a short beat before, behind an idle one, that is acknowledged and seen. Succession adds
// nothing, not even one delay: of those who live and see the same some process is the first to
// kill, one is the first in line, and neither waits for anybody.
//
// Without its lease it is the same wait, from when that was lost. The record of a role is waited
// for by the longest lease of those who may have written it last, and that may be the lease of the
// process that claims it; or by L_max at most, by one that has found a lease gone in its life,
// since it may not know how long that was.
func (w *world) leaderless(p *process, lost loss) time.Duration {
	ttl, slowest := w.store.newest(record.LeaseKey(p.peer())).entry.Lease.TTL(), p
	for _, q := range w.members {
		if q == p || !q.alive || q.plan.Worker {
			continue
		}
		if lost == itsRole || lost == both {
			ttl = max(ttl, q.cfg.TTL)
			if q.unread {
				ttl = MaxTTL
			}
		}
		if slowest == p || q.plan.Rate < slowest.plan.Rate {
			slowest = q
		}
	}
	return slowest.lasts(ttl) + messages
}

// notes takes down when a process finds the lease of a candidate gone, or cannot read it.
func (p *process) notes(ev protocol.Event) {
	switch e := ev.(type) {
	case protocol.Delivered:
		if e.Kind == record.KindLease && e.Peer.Class == record.Candidate && e.Form != record.FormRecord {
			p.unread = true
		}
	case protocol.SnapshotDone: // what it does not have any more
		for _, q := range p.w.members {
			known, there := p.m.View().Peer(q.peer()), p.w.store.newest(record.LeaseKey(q.peer()))
			if known != nil && known.Form == record.FormRecord && (there == nil || there.entry.Form != record.FormRecord) {
				p.unread = true
			}
		}
	}
}

// leader is who leads a role, nil for nobody.
func (w *world) leader(role string) *process {
	i := slices.IndexFunc(w.members, func(p *process) bool {
		t := p.work[role]
		return p.alive && t != nil && t.leading && p.until > w.now
	})
	if i < 0 {
		return nil
	}
	return w.members[i]
}

// follows reports whether somebody could lead a role after p.
func (w *world) follows(role string, p *process) bool {
	return slices.ContainsFunc(w.members, func(q *process) bool {
		t := q.work[role]
		return q != p && q.alive && q.session != 0 && q.joined[role] && (t == nil || t.drained) && q.plan.MaxRoles == 0
	})
}
