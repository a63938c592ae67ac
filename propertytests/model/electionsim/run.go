package electionsim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// Run plays one schedule: faults for a while, then quiet until everything has converged, a window
// in which nothing may happen but heartbeats, and the crashes of those who lead then. The error
// says which promise was broken, with the tail of the schedule.
func Run(plan *Plan) (Counts, error) {
	w := run(plan)
	if w.violated != nil {
		return w.Counts, fmt.Errorf("%w\nat %v, seed %d, %+v\n%s", w.violated, w.now, plan.Seed, *plan, w.trace.String())
	}
	return w.Counts, nil
}

func run(plan *Plan) *world {
	w := newWorld(plan)
	for i := range plan.Members {
		p := w.newProcess(i, fmt.Sprintf("p%d", i), &plan.Members[i])
		w.at(w.between(0, 500*time.Millisecond), p.restart)
		p.cfg.Class = record.Candidate
		if p.plan.Worker {
			p.cfg.Class = record.Worker
		}
	}
	if plan.drift() >= 150_000 {
		w.Counts.Drifting = 1
	}
	w.store.single = plan.Single
	for _, f := range plan.Faults {
		w.at(f.At, func() { w.strike(f) })
	}
	for t := time.Second; t < longest; t += time.Second {
		w.at(t, func() {
			for _, c := range w.store.sweep(w.now) {
				w.committed(c)
			}
		})
	}
	w.runUntil(Length)
	w.calm()
	w.Counts.Seconds = int(w.now / time.Second)
	w.Counts.Reclaimed, w.Counts.KeptVacancies = w.store.reclaimed, w.store.kept
	w.Counts.Unwanted, w.Counts.Abandoned = w.store.unwanted, w.store.abandoned
	return w
}

// calm ends the faults and waits for E5 and E6, then checks that all stays as it is (E8).
func (w *world) calm() {
	w.quiet, w.expiring = true, ""
	w.bringIntoLine()
	if !slices.ContainsFunc(w.members, func(p *process) bool { return p.alive && !p.plan.Worker }) {
		w.members[0].start()
	}
	for _, p := range w.members {
		for _, t := range p.busy {
			if t.stuck && !t.drained && p.alive && !w.plan.Sticky {
				p.drainAfter(t, time.Second)
			}
		}
	}
	heals := 10 * time.Second
	if w.lostAt > 0 {
		heals += 5 * view.BackPatience / 2 // and every doubt is settled, also those of watches that could not tell
	}
	w.runUntil(w.now + heals)
	w.converge(Length)
	w.still()
	w.crashLeaders()
	if w.even != nil { // the one that came back last may just have been asked whether it takes a role
		w.runUntil(w.now + 2*time.Second)
	}
	w.checkCommands()
}

// converge waits until nothing is missing any more, since whatever happened last.
func (w *world) converge(last time.Duration) {
	for missing := "nothing"; missing != "" && w.violated == nil; {
		w.runUntil(w.now + 100*time.Millisecond)
		if missing = w.unsettled(); missing != "" && w.now > last+w.bound() {
			w.violate("E5, E6: %s, %v after the last fault", missing, w.now-last)
		}
	}
}

// unsettled says what has not converged, or would still change by itself.
func (w *world) unsettled() string {
	if missing := w.behind(); missing != "" {
		return missing
	}
	if missing := w.converged(); missing != "" {
		return missing
	}
	if missing := w.unburied(); missing != "" {
		return missing
	}
	if missing := w.undead(); missing != "" {
		return missing
	}
	if missing := w.undeclared(); missing != "" {
		return missing
	}
	if missing := w.ungiven(); missing != "" {
		return missing
	}
	if missing := w.uneven(); missing != "" {
		return missing
	}
	if missing := w.cooling(); missing != "" {
		return missing
	}
	w.rest()
	w.runUntil(w.now + 3*time.Second)
	for _, p := range w.members {
		if p.alive && p.other > 0 && p.plan.Rotation == 0 {
			return fmt.Sprintf("%s still writes %d times", p, p.other)
		}
	}
	if missing := w.converged(); missing != "" {
		return missing
	}
	return w.uneven() // what was claimed meanwhile has to be moved
}

// undeclared is a candidate whose member record does not stand: others count on it as soon as it
// does.
func (w *world) undeclared() string {
	for _, p := range w.members {
		if !p.alive || p.plan.Worker || p.session == 0 {
			continue
		}
		c := w.store.newest(record.MemberKey(p.peer()))
		if c == nil || c.entry.Form != record.FormRecord || c.entry.Member.Session != p.session {
			return p.String() + " has yet to say what it takes part in"
		}
	}
	return ""
}

// unburied is a member whose lease is gone: it is waited for, as long as any lease may last, and
// ended then.
func (w *world) unburied() string {
	for _, p := range w.members {
		if !p.alive || p.plan.Worker {
			continue
		}
		for _, q := range p.m.View().Peers() {
			if q.Member != nil && q.Form != record.FormRecord && q.Form != record.FormNewer {
				return fmt.Sprintf("%s has yet to end %v", p, q.Peer)
			}
		}
	}
	return ""
}

// ungiven is a role of a session that is gone, in which nobody takes part any more: a candidate
// gives it up after L_max. There is none when all have ended.
func (w *world) ungiven() string {
	if !slices.ContainsFunc(w.members, func(p *process) bool { return p.alive && !p.plan.Worker }) {
		return ""
	}
	for i := range w.plan.Roles {
		role := roleName(i)
		c := w.store.newest(record.RoleKey(role))
		if c == nil || c.entry.Form != record.FormRecord || c.entry.Role.Vacant {
			continue
		}
		if !slices.ContainsFunc(w.members, func(p *process) bool {
			holds := p.peer() == c.entry.Role.Holder() && p.session == c.entry.Role.Session
			return p.alive && (p.joined[role] || holds)
		}) {
			return "nobody has given up " + c.String()
		}
	}
	return ""
}

// cooling is a member that is kept from a role for a while: at the end of that it says that it is
// eligible again.
func (w *world) cooling() string {
	for _, p := range w.members {
		for i := range w.plan.Roles {
			if role := roleName(i); p.alive && p.m.Status(role).Cooling {
				return fmt.Sprintf("%s is cooling down for %s", p, role)
			}
		}
	}
	return ""
}

func (w *world) rest() {
	for _, p := range w.members {
		p.steady, p.other = 0, 0
	}
}

// still checks E8: one heartbeat for each session and interval, and nothing else.
func (w *world) still() {
	if w.violated != nil {
		return
	}
	w.rest()
	w.Counts.QuietTerms = 0
	w.runUntil(w.now + window)
	if missing := w.converged(); missing != "" {
		w.violate("E6: %s though nothing happens", missing)
	}
	if w.Counts.QuietTerms > 0 {
		w.violate("E6: %d new terms though nothing happens", w.Counts.QuietTerms)
	}
	for _, p := range w.members {
		if !p.alive {
			continue
		}
		interval := float64(p.lasts(p.cfg.Heartbeat))
		if most := int(float64(window)/interval) + 2; p.steady > most {
			w.violate("E8: %s beat %d times in %v, %d would do", p, p.steady, window, most)
		}
		if p.other > 0 && p.plan.Rotation == 0 {
			w.violate("E8: %s wrote %d times beside its heartbeats though nothing happens", p, p.other)
		}
	}
}

// checkCommands reports commands that nobody has answered; only stuck work may hold one up.
func (w *world) checkCommands() {
	if w.violated != nil || w.plan.Sticky {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(w.commands)) {
		if q := w.commands[id]; q.owner.alive && q.owner.life == q.life {
			w.violate("command %d to %s was never answered", id, q.owner)
		}
	}
}
