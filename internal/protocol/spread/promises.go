package spread

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Promises are the roles that a member has said it will take, and does not lead or claim yet. Each
// ends with its claim, or by itself.
type Promises struct{ until map[string]record.Instant }

// Add notes a promise. A later one for the same role replaces it.
func (p *Promises) Add(role string, until record.Instant) {
	if p.until == nil {
		p.until = map[string]record.Instant{}
	}
	p.until[role] = until
}

// End takes a promise back.
func (p *Promises) End(role string) { delete(p.until, role) }

// Holds reports whether a role is promised at now.
func (p *Promises) Holds(now record.Instant, role string) bool { return now < p.until[role] }

// Each calls do for each role that is promised at now, in any order, and forgets the others.
func (p *Promises) Each(now record.Instant, do func(role string)) {
	for role, until := range p.until {
		if now >= until {
			delete(p.until, role)
			continue
		}
		do(role)
	}
}

// Next is when the first promise ends, ok whether there is any.
func (p *Promises) Next() (at record.Instant, ok bool) {
	for _, until := range p.until {
		if !ok || until < at {
			at, ok = until, true
		}
	}
	return at, ok
}

// Count is what a member counts of itself: the roles that it leads or drains, has claimed, or has
// promised to take.
type Count struct {
	Group int // those of the group of the role that it is asked for
	All   int // those of all groups
}

// Admits reports whether a member takes one more role: always within its cap, and for the sake of
// balance alone within its quota (S4).
func (c Count) Admits(limit int, balance bool, quota int) bool {
	return (limit == 0 || c.All < limit) && (!balance || c.Group < quota)
}
