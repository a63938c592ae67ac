package electionsim

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/spread"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// evenness is how evenly the roles of a schedule are led, by what stands in the bucket: by a view
// that is never late.
type evenness struct {
	picture *spread.Picture[struct{}, struct{}]
	view    *view.View[struct{}, struct{}]
	news    view.News[struct{}, struct{}]
	needed  int // how many roles have to move
	moved   map[string]movement
}

// movement is when a role was given away for the sake of balance, and to whom.
type movement struct {
	at time.Duration
	to string
}

func newEvenness(p *Plan) *evenness {
	if !p.Spread {
		return nil
	}
	v := view.New[struct{}, struct{}](MaxTTL)
	return &evenness{picture: spread.Of(v, 0, p.group(), nil), view: v, moved: map[string]movement{}}
}

func (p *Plan) group() string {
	if p.Sharded {
		return "shards"
	}
	return ""
}

// spread makes a role one that is spread, if those of the plan are.
func (p *Plan) spread(role *protocol.RoleConfig) {
	if !p.Spread {
		return
	}
	role.Spread, role.Group = true, p.group()
	if p.Apart && role.Name == roleName(0) {
		role.Apart = []string{roleName(1)}
	}
}

// needs is how many roles have to move at least.
func (e *evenness) needs(now time.Duration) int {
	e.picture.Look(e.view, record.Instant(now), nil)
	return len(spread.Make(&e.picture.Group).Moves)
}

// saw counts what is moved, and what must be: joins, ends and commands may make more moves
// necessary, also by the time that passes. Claims may not: a role that is claimed by somebody else
// than it should be is moved in vain later.
func (e *evenness) saw(w *world, c *commit) {
	if e == nil || c.entry.Kind == record.KindIdle || c.entry.Kind == record.KindOther {
		return
	}
	before := e.needs(w.now)
	w.Counts.LeastMoves += max(0, before-e.needed)
	e.news.Reset()
	e.view.Merge(record.Instant(w.now), &c.entry, &e.news)
	e.needed = e.needs(w.now)
	if c.entry.Kind == record.KindRole && !c.entry.Role.Vacant && c.entry.Form == record.FormRecord {
		if w.even.moved[c.entry.Name].to != c.entry.Role.ID { // it was not taken, or by somebody else
			delete(w.even.moved, c.entry.Name)
		}
		return
	}
	if c.entry.Role.Reason == protocol.Balanced.String() {
		w.Counts.Moves++
		w.checkRest(c)
	}
	w.Counts.LeastMoves += max(0, e.needed-before)
}

// checkRest: a role that was moved rests for a TTL of the process that it was moved to.
func (w *world) checkRest(c *commit) {
	last, now := w.even.moved[c.entry.Name], movement{w.now, c.entry.Role.Next}
	w.even.moved[c.entry.Name] = now
	if c.by == nil || c.entry.Role.By != last.to {
		return
	}
	if rest := c.by.lasts(c.by.cfg.TTL); w.now < last.at+rest {
		w.violate("E9: %s moves again %v after it was moved to %s, which has a TTL of %v", c.entry.Name, w.now-last.at, c.by,
			rest)
	}
}

// checkCap: nobody begins to lead more roles than it may.
func (p *process) checkCap() {
	if n := p.leads(); p.plan.MaxRoles > 0 && n > p.plan.MaxRoles {
		p.w.violate("E9: %s leads %d roles, and may lead %d", p, n, p.plan.MaxRoles)
	}
}

// together says who leads two roles that are to be apart, though somebody else could lead one.
func (w *world) together() string {
	a, b := w.leader(roleName(0)), w.leader(roleName(1))
	if !w.plan.Apart || a == nil || a != b {
		return ""
	}
	for _, p := range w.members {
		if p == a || !p.alive || p.session == 0 || p.plan.MaxRoles > 0 {
			continue
		}
		for _, role := range []string{roleName(0), roleName(1)} {
			if p.joined[role] && p.priority(role) >= a.priority(role) && p.tier() == a.tier() {
				return fmt.Sprintf("E9: %s leads two roles that are to be apart, and %s could lead %s", a, p, role)
			}
		}
	}
	return ""
}

// uneven says what has to move still (E9).
func (w *world) uneven() string {
	if w.even == nil {
		return ""
	}
	if n := w.even.needs(w.now); n > 0 {
		return fmt.Sprintf("E9: %d roles are to move", n)
	}
	if missing := w.together(); missing != "" {
		return missing
	}
	return w.unequal()
}

// unequal compares the loads of members that differ in nothing, by what runs.
func (w *world) unequal() string {
	if w.plan.Depending != 0 { // they differ in what they wait for
		return ""
	}
	loads := map[*process]int{}
	for _, p := range w.members {
		if m := p.plan; m.Without != 0 || m.MaxRoles != 0 || m.Capacity > 1 || slices.Max(m.Priorities) > 0 || w.plan.Apart {
			return ""
		}
		if !p.alive || p.plan.Worker || p.w.told("zone."+p.plan.Zone).Hard {
			continue
		}
		loads[p] = 0
		for i := range w.plan.Roles {
			t := p.work[roleName(i)]
			if !p.joined[roleName(i)] || t != nil && !t.leading && !t.drained {
				return "" // stuck work, or a command that has not ended
			}
			if t != nil && t.leading {
				loads[p]++
			}
		}
	}
	for p, more := range loads {
		for q, fewer := range loads {
			if more > fewer+1 && p.tier() == q.tier() {
				return fmt.Sprintf("E9: %s leads %d roles, and %s leads %d", p, more, q, fewer)
			}
		}
	}
	return ""
}

func (p *process) leads() (n int) {
	for _, t := range p.work {
		if t.leading || !t.drained {
			n++
		}
	}
	return n
}

// unplaced reports whether all who could lead a role lead as many as they may.
func (w *world) unplaced(role string) bool {
	return w.even != nil && !slices.ContainsFunc(w.members, func(p *process) bool {
		return p.alive && p.joined[role] && !p.barred(role) && !p.waits(role) &&
			(p.plan.MaxRoles == 0 || p.leads() < p.plan.MaxRoles)
	})
}

// declines reports whether a member would not take a role from anybody.
func (w *world) declines(p *process, role string) bool {
	if w.even == nil {
		return false
	}
	apart := func(a, b string) bool {
		t := p.work[b]
		return w.plan.Apart && role == a && t != nil && t.leading
	}
	return p.plan.MaxRoles > 0 && p.leads() >= p.plan.MaxRoles ||
		apart(roleName(0), roleName(1)) || apart(roleName(1), roleName(0))
}
