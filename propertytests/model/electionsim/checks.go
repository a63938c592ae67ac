package electionsim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// believe takes up what the last step says about the terms, and checks E1: a process that believes
// now, nobody else does in the same bucket. It covers every moment up to the next step, since
// belief ends by itself on the process's own clock.
func (p *process) believe() {
	w := p.w
	p.until = p.when(p.m.TrustedUntil())
	if p.until <= w.now || w.lostAt > 0 && p.partial { // what was lost ends a term when the whole snapshot is there
		return
	}
	for role, t := range p.work {
		if !t.leading {
			continue
		}
		p.checkOutlived(t)
		w.checkWills(p, t)
		p.checkLost(t)
		for _, q := range w.members {
			if q == p || !q.alive || q.until <= w.now {
				continue
			}
			if u := q.work[role]; u != nil && u.leading && !w.apart(p, t, q, u) {
				w.violate("E1: two leaders of %s: %s at epoch %d believes until %v, and %s at epoch %d until %v",
					role, p, t.epoch, p.until, q, u.epoch, q.until)
			}
		}
	}
}

// grant checks E2 and that the record says so: an epoch is granted once, to its writer, and no
// later one is lower. A term of a bucket that is gone may begin after one of the next, but not
// above it.
func (w *world) grant(p *process, t *work, token string) {
	role, epoch := t.role, t.epoch
	t.in = w.bucketOf(epoch)
	p.checkRises(t)
	p.checkStands(t)
	c := t.in.at(epoch)
	if t.lostAt > 0 {
		return
	}
	last := w.epochs[role]
	if t.in.deleted && last >= t.in.next() {
		last = t.in.epochs[role]
	}
	switch {
	case epoch > last:
		w.epochs[role], t.in.epochs[role] = max(epoch, w.epochs[role]), epoch
	case epoch == last || !w.overMisled(p, last):
		w.violate("E2: %s leads %s at epoch %d after epoch %d", p, role, epoch, last)
	}
	if q := w.granted[epoch]; q != nil {
		w.violate("E2: epoch %d was granted to %s and to %s", epoch, q, p)
	}
	w.granted[epoch] = p
	if c == nil {
		w.violate("E2: epoch %d of %s is not a revision", epoch, role)
		return
	}
	if c.key != record.RoleKey(role) || c.entry.Role.Token != token || c.entry.Role.ID != p.instance {
		w.violate("E2: %s leads %s at epoch %d, where stands %s", p, role, epoch, c)
	}
	t.records = append(t.records, c)
}

// checkWrite checks E7 when a role is given away, and counts what is sent in the quiet window for
// E8.
func (p *process) checkWrite(x protocol.Write) {
	w := p.w
	if !p.m.View().Complete() || p.snapshots == 0 {
		w.violate("%s writes %s before its first snapshot is complete", p, x.Key)
	}
	role, isRole := strings.CutPrefix(x.Key, "c.role.")
	switch {
	case p.beatsBy(x.Key):
		p.steady++
	default:
		p.other++
		p.checkJudgement(x)
	}
	if !isRole {
		return
	}
	e := record.Decode(x.Key, x.Value, 0, x.Delete, MaxTTL)
	if !e.Role.Vacant {
		p.claims[e.Role.Token] = claim{}
		if _, before := w.sent[e.Role.Token]; !before {
			p.checkClaims(role)
			w.sent[e.Role.Token] = sending{w.Counts.Steps, w.now, p.m.View().Last(), p.misled(role), p.told}
		}
		if t := p.work[role]; t != nil && t.leading && e.Role.Token != t.shows {
			t.rotating = true
		}
		return
	}
	if e.Role.Reason == "swept" {
		w.Counts.Sweeps++
	}
	w.Counts.Vacates++
	if t := p.work[role]; t != nil && !t.drained && !p.plan.VacateUndrained {
		w.violate("E7: %s gives %s away before its work has drained", p, role)
	}
}

// resolved notes what the machine is told of a write.
func (p *process) resolved(x protocol.Write, ev protocol.Written) {
	if ev.Outcome == record.Unknown {
		if f := p.beats[x.ID]; f != nil {
			f.unknown = true
			if f.landed {
				p.w.Counts.UnknownBeats++
			}
		}
		if strings.HasPrefix(x.Key, "c.role.") {
			e := record.Decode(x.Key, x.Value, 0, x.Delete, MaxTTL)
			if !e.Role.Vacant {
				p.claims[e.Role.Token] = claim{unknown: true}
			}
		}
	}
	delete(p.beats, x.ID)
}

// checkAwake: a process that begins to lead or to work does not say that it is idle, since others
// may end it at once then.
func (p *process) checkAwake(what string) {
	c := p.w.store.newest(record.LeaseKey(p.peer()))
	if c == nil || c.at <= p.w.lostAt || c.entry.Lease.Session != p.session {
		return
	}
	if l := c.entry.Lease; l.State == record.Idle || l.AtRest {
		p.w.violate("I1: %s begins %s, and its lease says that it is at rest: %s", p, what, c)
	}
}

// checkEvicted: nobody ends a term for a record that was changed while its own stands, or the
// rotation of it that it has sent: unless that has been open for so long that others would not wait
// for it any more. (What was shown may be lost already.)
func (p *process) checkEvicted(t *work) {
	c := p.w.store.newest(record.RoleKey(t.role))
	if c == nil || c.entry.Form != record.FormRecord || c.entry.Role.ID != p.instance ||
		c.entry.Role.Session != t.session ||
		t.in != p.w.store || t.lost() || p.w.stray != nil ||
		p.strayed || // what was refused there proves nothing here
		p.w.purged(t) || // its own record does not stand any more
		p.highest[t.role] > c.entry.Revision {
		return
	}
	if s, sent := p.w.sent[c.entry.Role.Token]; sent &&
		(c.entry.Role.Token == t.shows || p.w.now-s.when < p.lasts(p.cfg.TTL-p.cfg.Margin)) {
		p.w.violate("E4: %s ends its term of %s at epoch %d, as if it were evicted; there stands %s", p, t.role, t.epoch, c)
	}
}

// checkKill: a process that is killed has stopped believing in its session, by its own clock,
// unless it had said that it is idle, for then nothing is at work under it. (When an idle session
// may be judged, checkJudgement says.)
func (w *world) checkKill(by *process, c *commit) {
	past := w.store.keys[c.key]
	if len(past) < 2 {
		return
	}
	mayEnd := past[len(past)-2].entry.Lease.State == record.Idle
	if mayEnd {
		w.Counts.IdleKills++
	}
	for _, p := range w.members {
		if !p.alive || p.session == 0 || p.session != c.entry.Lease.Session || p.instance != c.entry.Peer.Instance ||
			mayEnd && p.working == 0 {
			continue
		}
		if until := p.when(p.m.LeaseUntil()); until > w.now && !p.byLostBeat(until) && p.mistakenAt != w.now {
			w.violate("I1: %s kills %s, which believes in its session until %v", by, p, until)
		}
	}
}

// checkJudgement: nobody tries to end a session because its own watch does not come. When the
// session had stood still for half its lease something was written that it has been shown. An idle
// one is judged by a watch that shows idle beats, and by its newest one; or ended for a role, or
// for a new process of its name.
func (p *process) checkJudgement(x protocol.Write) {
	w := p.w
	if kind, _, _ := record.ParseKey(x.Key); kind != record.KindLease || w.lostAt > 0 ||
		record.Decode(x.Key, x.Value, 0, x.Delete, MaxTTL).Lease.State != record.Killed {
		return
	}
	past := w.store.keys[x.Key]
	i := slices.IndexFunc(past, func(c *commit) bool { return c.entry.Revision == x.Expect })
	switch {
	case i < 0 || past[i].entry.Form != record.FormRecord:
		return
	case past[i].entry.Lease.State == record.Idle:
		p.checkIdleJudgement(past[i])
		return
	case past[i].entry.Lease.State != record.Live:
		return
	}
	if half := past[i].at + p.lasts(past[i].entry.Lease.TTL()/2) - rounding; p.shownAt < half {
		w.violate("%s judges %s, which stands since %v, by what was written until %v", p, x.Key, past[i].at, p.shownAt)
	}
}

// hasHeld reports whether a role was ever held by the session that c ends; or, so far as anybody
// knows, by a later one of that instance, which is lost.
func (w *world) hasHeld(c *commit) bool {
	session := cmp.Or(c.entry.Lease.Session, c.entry.Revision)
	held := func(r *commit) bool {
		return r.entry.Kind == record.KindRole && r.entry.Role.ID == c.entry.Peer.Instance &&
			r.entry.Role.Session >= session
	}
	return slices.ContainsFunc(w.store.log, held) || slices.ContainsFunc(w.store.lost, held)
}

// landed looks at a write that has won.
func (w *world) landed(p *process, x protocol.Write, c *commit) {
	w.mistake(p, c)
	switch {
	case c.entry.Kind == record.KindRole && !c.entry.Role.Vacant:
		w.Counts.Claims++
	case c.entry.Kind == record.KindLease && c.entry.Lease.State == record.Killed:
		w.checkKill(p, c)
		w.checkAtRest(c)
	case c.entry.Kind == record.KindLease:
		p.checkWorkload(c)
	}
}

// converged reports whether every role is where it belongs: led, and by nobody that is outranked
// (E5, E6). missing says what is not so.
func (w *world) converged() (missing string) {
	for _, p := range w.members {
		if p.alive && p.session == 0 {
			return p.String() + " has no session"
		}
	}
	for i := range w.plan.Roles {
		if missing := w.settled(roleName(i)); missing != "" {
			return missing
		}
	}
	return ""
}

func (w *world) settled(role string) string {
	var leader *process
	healthy := 0
	for _, p := range w.members {
		if !p.alive {
			continue
		}
		t := p.work[role]
		switch {
		case t != nil && t.leading && p.until > w.now:
			leader = p
		case p.holdsStuck(role):
			return "" // reported as stuck: the role waits for it
		}
		if leader == p && (p.barred(role) || p.waits(role)) {
			return fmt.Sprintf("%s is led by %s, and is not to be", role, p)
		}
		if p.joined[role] && (t == nil || t.leading || t.drained) && !p.barred(role) && !p.waits(role) {
			healthy++
		}
	}
	if healthy == 0 {
		return ""
	}
	if leader == nil && w.unplaced(role) {
		return ""
	}
	if leader == nil {
		return role + " has no leader"
	}
	for _, p := range w.members {
		t := p.work[role]
		if p.alive && p.joined[role] && p.outranks(leader, role) &&
			(t == nil || t.drained) && !w.declines(p, role) {
			return role + " is led by " + leader.String() + " and not by " + p.String()
		}
	}
	return ""
}

// holdsStuck reports whether stuck work of a term keeps the role.
func (p *process) holdsStuck(role string) bool {
	t := p.work[role]
	if t == nil || t.drained || t.leading || p.plan.VacateUndrained {
		return false
	}
	c := p.w.store.newest(record.RoleKey(role))
	return c != nil && c.entry.Role.ID == p.instance && c.entry.Role.Session == p.session
}

func (p *process) priority(role string) int {
	for i, priority := range p.plan.Priorities {
		if roleName(i) == role {
			return priority
		}
	}
	return 0
}

// bound is within which everything must have converged after the last fault. It is the sum of all
// waits, as if none began before the last one was over and all of them were the longest that there
// are, by the slowest clock:
//
//	41 s  a cool-down, which doubles with every failure: the last one is 3 s after the faults at most, when work has
//	      returned, and those before have ended by then, so it is no longer than Length, 3 s, and the longest TTL
//	10 s  faults that heal
//	26 s  three times L_max, by which what is gone or cannot be read is waited for: to open a session, to end another,
//	      to claim
//	 6 s  the longest wait before something is tried again, outside the slow lane, which ends with anything that is heard
//	15 s  a hand-over: beats until it is stable, and work that drains for three TTLs
//
// Where a worker has the name of a candidate, as a duplicate may, either answers when that one is
// asked whether it is ready, and a hand-over is a matter of chance.
func (w *world) bound() time.Duration {
	for _, p := range w.members {
		for _, q := range w.members {
			if p.alive && q.alive && p.instance == q.instance && p.cfg.Class != q.cfg.Class {
				return namesakes
			}
		}
	}
	if w.lostAt > 0 {
		return 100*time.Second + 3*view.BackPatience
	}
	return 100*time.Second + w.waitsForZones()
}

const (
	namesakes = 240 * time.Second
	longest   = 300 * time.Second // of a schedule, markers being swept that long
	window    = 8 * time.Second   // in which nothing but heartbeats is written, once everything has converged
)
