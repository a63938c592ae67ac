package electionsim

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/zone"
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
	within, again := w.leaderless(p, lost, len(roles))
	if w.plan.Guarded && lost == alone {
		within, again = guardEnd+messages, 0
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
	if again > 0 && !blind && w.watchesMade() == watches {
		for _, r := range roles {
			if !w.led[r] {
				w.Counts.DealtAgain++
			}
		}
	}
	w.runUntil(began + within + again)
	if blind || w.watchesMade() > watches {
		w.runUntil(w.now + watching + messages)
	}
	for _, r := range roles {
		if !w.led[r] {
			w.violate("E5: nobody leads %s within %v after the crash of %s", r, within+again, p)
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
//
// A role that is spread may fall vacant right after a plan, and waits then for the next one. Again
// is how much longer it may wait for a second plan. Few do: see TestSpread.
//
//   - Plans agree as long as each claim is one that the others foresee.
//   - They do not foresee the claim of the role whose record was lost, nor one by a plan that has
//     seen claims in another order than they were dealt.
//   - A plan that was made without such a claim may leave a role to somebody who leaves it back. It
//     may also have another role claimed that others do not foresee.
//   - The first such claim comes no later than the last process makes its first plan: what is
//     vacant is claimed then.
//   - Each takes a role that was vacant, and comes at most a message and a delivery after the one
//     before, since a plan that knows all claims agrees with others.
//   - A process that sees one plans again, a gathering after its last plan. So that is the most,
//     and a message and a delivery for each of the roles.
func (w *world) leaderless(p *process, lost loss, roles int) (within, again time.Duration) {
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
	within = slowest.lasts(ttl) + messages
	if w.plan.Spread {
		within += slowest.gathering()
		again = slowest.gathering() + time.Duration(roles)*(hop+delivery)
	}
	return within, again
}

// gathering is until a process makes a plan after one that it has just made.
func (p *process) gathering() time.Duration { return p.lasts(10*time.Millisecond) + tick }

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

// steer is an operator who drains the zone of p, or pauses a role; and takes it back after a while,
// or never.
func (w *world) steer(f Fault, p *process, role string) {
	name, rec := "zone."+p.plan.Zone, record.Steer{V: record.Version, Drained: true, Hard: f.For%3 == 0}
	if f.For%5 == 0 {
		name, rec = "role."+role, record.Steer{V: record.Version, Paused: true}
	}
	tell := func(value []byte, marker bool) {
		w.steeredAt = w.now
		w.committed(w.store.put(w.now, record.SteerKey(name), value, marker))
	}
	w.Counts.Steered++
	tell(record.Encode(rec), false)
	if f.For%2 == 0 {
		w.after(f.For, func() { tell(nil, true) })
	}
}

// told is what stands about a zone or a role.
func (w *world) told(name string) record.Steer {
	if c := w.store.newest(record.SteerKey(name)); c != nil && c.entry.Form == record.FormRecord {
		return c.entry.Steer
	}
	return record.Steer{}
}

// tier is where a process comes in the order of the zones.
func (p *process) tier() int32 {
	return zone.Tier(p.w.plan.Zones, p.plan.Zone, p.w.told("zone."+p.plan.Zone).Drained)
}

// barred reports whether an operator wants p not to lead a role.
func (p *process) barred(role string) bool {
	return p.w.told("zone."+p.plan.Zone).Hard || p.w.told("role."+role).Paused
}

// outranks reports whether a leader is to hand over to p in the end.
func (p *process) outranks(leader *process, role string) bool {
	switch from, to := leader.tier(), p.tier(); {
	case p.barred(role) || p.waits(role) || to < from:
		return false
	case to > from:
		return p.w.plan.FailBack > 0 || from == zone.Drained
	}
	return p.plan.Takeover && p.priority(role) > leader.priority(role)
}

// checkFailBacks: a role goes to a better zone only when the session there has been alive for as
// long as the role's record asks for, never to a worse one by itself; and the record tells how many
// fail-backs in a row did not last, in each version of it (E10).
func (w *world) checkFailBacks(c *commit) {
	past := w.store.keys[c.key]
	if len(w.plan.Zones) == 0 || c.entry.Kind != record.KindRole || c.entry.Form != record.FormRecord || c.by == nil ||
		len(past) < 2 || past[len(past)-2].entry.Form != record.FormRecord {
		return
	}
	was, is := &past[len(past)-2].entry.Role, &c.entry.Role
	history := zone.History{Failed: was.FailBacks, Back: was.FailedBack}
	wait, stays := history.Wait(w.plan.FailBack), is.Session == was.Session && !is.Vacant
	switch {
	case was.Vacant:
		lost := was.FailedBack && !is.Vacant && is.ID != was.Next
		if is.FailBacks < was.FailBacks || lost && is.FailBacks == was.FailBacks {
			w.violate("E10: %s has seen %d fail-backs that did not last, and then %s", c.key, was.FailBacks, c)
		}
		return
	case is.Vacant && is.Reason == protocol.FailedBack.String():
		if w.Counts.FailBacks++; !is.FailedBack {
			w.violate("E10: nobody can see that %s is given back: %s", c.key, c)
		}
	case is.Vacant && is.Reason == protocol.Outranked.String() && is.Next != "":
		if to := w.named(is.Next); to != nil && to.tier() != c.by.tier() && w.now > w.steeredAt+learnt {
			w.violate("E10: %s gives %s to %s, which is in another zone", c.by, c.key, to)
		}
	}
	began := c.at
	for _, c := range slices.Backward(past[:len(past)-1]) {
		if c.entry.Form != record.FormRecord || c.entry.Role.Session != was.Session {
			break
		}
		began = c.at
	}
	switch soon := c.at-began < wait*3/4; {
	case was.FailedBack && soon && !stays && is.FailBacks <= was.FailBacks:
		w.violate("E10: a fail-back of %s lasted for %v of %v, and then %s", c.key, c.at-began, wait, c)
	case was.FailedBack && soon && !stays:
		w.Counts.FlappedBack++
	case !was.FailedBack && is.FailBacks != was.FailBacks:
		w.violate("E10: %s has seen %d fail-backs that did not last, and then %s", c.key, was.FailBacks, c)
	}
}

// learnt is after when all know what an operator has told.
const learnt = 12 * time.Second

// checkAsked: a leader offers its role to a better zone only when the session there has been alive
// for so long, by its own clock.
func (p *process) checkAsked(x protocol.Ask) {
	w := p.w
	to, c := w.named(x.Instance), w.store.newest(record.RoleKey(x.Request.Role))
	if x.Request.Balance {
		p.checkBalanced(to, x.Request.Role)
		return
	}
	if len(w.plan.Zones) == 0 || x.Request.Op != protocol.OpReady || to == nil || to.session == 0 ||
		c == nil || c.entry.Form != record.FormRecord || to.tier() == p.tier() || p.tier() == zone.Drained ||
		w.now < w.steeredAt+learnt {
		return
	}
	if !p.means(to) {
		return
	}
	opened, wait := w.store.at(to.session), zone.History{Failed: c.entry.Role.FailBacks}.Wait(w.plan.FailBack)
	switch {
	case to.tier() < p.tier() || w.plan.FailBack == 0:
		w.violate("E10: %s offers %s to %s, which is in another zone", p, x.Request.Role, to)
	case opened != nil && w.now-opened.at < p.lasts(wait):
		w.violate("E10: %s gives %s back to %s, which has been alive for %v of %v", p, x.Request.Role, to, w.now-opened.at,
			wait)
	}
}

// checkBalanced: a role is moved for the sake of balance within its zone alone, but to make room
// for another one, or to keep it apart.
func (p *process) checkBalanced(to *process, role string) {
	w := p.w
	if len(w.plan.Zones) == 0 || to == nil || w.plan.Apart || w.now < w.steeredAt+learnt || p.plan.MaxRoles > 0 ||
		!p.means(to) {
		return
	}
	if to.tier() != p.tier() {
		w.violate("E10: %s moves %s to %s, which is in another zone, for the sake of balance", p, role, to)
	}
}

// means reports whether p, when it asks a process, means that one, and not an earlier session of
// that name, which its late view still shows: that may have been in another zone.
func (p *process) means(to *process) bool {
	known := p.m.View().Peer(to.peer())
	return known != nil && known.Session() == to.session
}

// named is the only living process of that name, nil if there are none or several.
func (w *world) named(instance string) (only *process) {
	for _, p := range w.members {
		if p.alive && p.instance == instance && !p.plan.Worker {
			if only != nil {
				return nil
			}
			only = p
		}
	}
	return only
}

// waitsForZones is for how long better zones may be waited for in all.
func (w *world) waitsForZones() (all time.Duration) {
	if w.plan.FailBack == 0 {
		return 0
	}
	for i := range w.plan.Roles {
		if c := w.store.newest(record.RoleKey(roleName(i))); c != nil {
			all += 2 * zone.History{Failed: c.entry.Role.FailBacks}.Wait(w.plan.FailBack)
		}
	}
	return all
}

// follows reports whether somebody could lead a role after p.
func (w *world) follows(role string, p *process) bool {
	return slices.ContainsFunc(w.members, func(q *process) bool {
		t := q.work[role]
		return q != p && q.alive && q.session != 0 && q.joined[role] && (t == nil || t.drained) && q.plan.MaxRoles == 0 &&
			!q.barred(role) && !q.waits(role)
	})
}
