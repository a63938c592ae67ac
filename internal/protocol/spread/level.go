package spread

import "cmp"

// place makes room for roles that only full members could take: one of these gives another role to
// a member that is not full. It reports whether there were any.
func (p *planner) place() (placed bool) {
	for _, r := range p.byAge {
		if p.at[r] != Nobody {
			continue
		}
		may := p.Roles[r].May
		p.begin()
		p.stay = false
		var queue []int
		for _, m := range p.order {
			if may.Take[m] && !p.over(m) {
				queue = append(queue, p.start(m))
			}
		}
		if free := p.search(queue, func(m int) bool { return !p.full(m) }); free != Nobody {
			p.put(r, p.shift(free))
			placed = true
		}
	}
	return placed
}

// relieveAll moves roles from loads that are too large to those that are too small, until there are
// none (S1). Each step takes from the member with the largest load that can be relieved, so no more
// roles move than must. It reports whether there were any.
func (p *planner) relieveAll(which func(p *planner, m int) bool) (moved bool) {
	for p.relieve(which) {
		moved = true
	}
	return moved
}

func (p *planner) relieve(which func(p *planner, m int) bool) bool {
	clear(p.tried)
	for {
		from := p.heaviest(which)
		if from == Nobody {
			return false
		}
		p.tried[from] = true
		p.begin()
		over := p.over(from)
		p.stay = !over
		to := p.search([]int{p.start(from)}, func(m int) bool {
			return m != from && !p.full(m) && (over || p.last(from)*p.weight(m) > p.more(m)*p.weight(from))
		})
		if to != Nobody {
			p.shift(to)
			return true
		}
	}
}

// heaviest is the next member to relieve: one that leads too many before the others, then the one
// with the largest load, as its last role is to it.
func (p *planner) heaviest(which func(p *planner, m int) bool) int {
	best := Nobody
	for _, m := range p.order {
		if p.tried[m] || len(p.held[m]) == 0 || !which(p, m) {
			continue
		}
		if best == Nobody || cmp.Or(
			-compareBool(p.over(m), p.over(best)), cmp.Compare(p.last(best)*p.weight(m), p.last(m)*p.weight(best))) < 0 {
			best = m
		}
	}
	return best
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// begin forgets the last search.
func (p *planner) begin() {
	for m := range p.parent {
		p.parent[m] = Nobody
	}
	p.reached = 0
}

// start has a search begin with a member.
func (p *planner) start(m int) int {
	p.parent[m] = m
	p.reached++
	return m
}

// search looks for the best member that the first ones could give a role to, with as few others in
// between as can be. Of those that are as near, it is the one that should have one role more.
func (p *planner) search(queue []int, wanted func(m int) bool) int {
	best := Nobody
	for next := []int(nil); len(queue) > 0 && best == Nobody; queue, next = next, nil {
		for _, m := range queue {
			if wanted(m) && (best == Nobody || cmp.Or(p.compareMore(m, best), p.compareRanks(m, best)) < 0) {
				best = m
			}
		}
		if best != Nobody {
			break
		}
		for _, from := range queue {
			next = p.reach(from, next)
		}
	}
	return best
}

// reach adds the members that one may give a role to, and that were not reached before.
func (p *planner) reach(from int, next []int) []int {
	var done *May // of the last role that is like any other
	for _, r := range p.held[from] {
		if p.reached == len(p.Members) {
			return next
		}
		role := &p.Roles[r]
		simple := len(role.Apart) == 0 && role.Avoid == nil
		if simple && role.May == done {
			continue
		}
		for _, to := range p.order {
			if p.parent[to] == Nobody && p.mayMove(r, from, to) && (!p.stay || role.May.near(from, to)) {
				p.parent[to], p.by[to] = from, r
				p.reached++
				next = append(next, to)
			}
		}
		if simple {
			done = role.May
		}
	}
	return next
}

// shift moves the roles of the way that a search has found, and returns the member that it began
// with.
func (p *planner) shift(to int) int {
	for p.parent[to] != to {
		from := p.parent[to]
		p.move(p.by[to], to)
		to = from
	}
	return to
}
