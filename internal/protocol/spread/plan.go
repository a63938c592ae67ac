package spread

import (
	"cmp"
	"slices"
)

// Plan is where each role of a group belongs.
type Plan struct {
	Loads []int  // by member: how many roles of the group it leads in the end, pinned ones included
	To    []int  // by role: which member leads it in the end; Nobody: it is unplaced
	Moves []Move // the roles that have another leader in the end, those that move first before the others
}

// Move is a role that its leader should give to another member.
type Move struct{ Role, From, To int }

// Make plans a group. The order of its members and roles does not matter.
func Make(g *Group) Plan {
	p := newPlanner(g)
	p.relieveAll((*planner).over)
	for again := true; again; { // a role that has moved makes room for others
		p.deal()
		again = p.place()
		again = p.separate() || again
		again = p.relieveAll(func(*planner, int) bool { return true }) || again
	}
	return p.plan()
}

// planner is a plan in the making.
type planner struct {
	*Group
	at     []int   // by role
	load   []int   // by member
	byAge  []int   // the roles, the oldest first
	held   [][]int // by member: the roles it leads in the plan, oldest first
	parent []int   // by member, of a search: the member that it takes a role from
	by     []int   // and that role

	order   []int    // the members by their ranks, so that all processes search in one order
	ranks   []uint64 // by member, in the group
	tried   []bool   // by member: whether it was tried to relieve it
	reached int      // how many members the search has come to
	stay    bool     // and roles stay in the tier of their zone: FailBackAfter decides when one leaves it
}

func newPlanner(g *Group) *planner {
	n := len(g.Members)
	p := &planner{
		Group: g, at: make([]int, len(g.Roles)), load: make([]int, n), byAge: make([]int, len(g.Roles)),
		held: make([][]int, n), parent: make([]int, n), by: make([]int, n),
		order: make([]int, n), ranks: make([]uint64, n), tried: make([]bool, n),
	}
	for i, m := range g.Members {
		p.load[i], p.order[i], p.ranks[i] = m.Pinned, i, Rank(g.Name, m.Name)
	}
	slices.SortFunc(p.order, p.compareRanks)
	for i := range g.Roles {
		p.byAge[i], p.at[i] = i, Nobody
	}
	slices.SortFunc(p.byAge, p.older)
	for _, r := range p.byAge {
		if at := g.Roles[r].At; at != Nobody {
			p.put(r, at)
		}
	}
	return p
}

func (p *planner) older(a, b int) int {
	return cmp.Or(cmp.Compare(p.Roles[a].Revision, p.Roles[b].Revision), cmp.Compare(p.Roles[a].Name, p.Roles[b].Name))
}

// put has a member lead a role that nobody leads in the plan.
func (p *planner) put(r, m int) {
	p.at[r] = m
	p.load[m]++
	if held := p.held[m]; len(held) == 0 || p.older(held[len(held)-1], r) < 0 {
		p.held[m] = append(held, r)
		return
	}
	i, _ := slices.BinarySearchFunc(p.held[m], r, p.older)
	p.held[m] = slices.Insert(p.held[m], i, r)
}

// move gives a role from its member to another one.
func (p *planner) move(r, to int) {
	from := p.at[r]
	p.load[from]--
	i, _ := slices.BinarySearchFunc(p.held[from], r, p.older)
	p.held[from] = slices.Delete(p.held[from], i, i+1)
	p.put(r, to)
}

func (p *planner) full(m int) bool {
	c := p.Members[m].Cap
	return c > 0 && p.load[m]+p.Members[m].Beside >= c
}

// over reports whether a member leads more than it may.
func (p *planner) over(m int) bool {
	c := p.Members[m].Cap
	return c > 0 && p.load[m]+p.Members[m].Beside > c
}

// more is what one role more would be to a member, before it is divided by the weight.
func (p *planner) more(m int) int { return 2*p.load[m] + 1 }

// last is what the last role that it leads is to a member.
func (p *planner) last(m int) int { return 2*p.load[m] - 1 }

func (p *planner) compareRanks(a, b int) int {
	if c := cmp.Compare(p.ranks[a], p.ranks[b]); c != 0 {
		return c
	}
	return cmp.Compare(p.Members[a].Name, p.Members[b].Name)
}

// compareMore orders members by which one should have one role more, before ranks do.
func (p *planner) compareMore(a, b int) int {
	return cmp.Compare(p.more(a)*p.weight(b), p.more(b)*p.weight(a))
}

func (p *planner) weight(m int) int { return max(p.Members[m].Weight, 1) }

// clashes reports whether a member would lead a role beside one that it is to be apart from.
func (p *planner) clashes(r, m int) bool {
	role := &p.Roles[r]
	if role.Avoid != nil && role.Avoid[m] {
		return true
	}
	return slices.ContainsFunc(role.Apart, func(other int) bool { return p.at[other] == m })
}

// choose is the member that should take a role which nobody leads, or which cannot stay, of those
// that allowed admits: by priority, then by load.
func (p *planner) choose(r int, allowed func(m int) bool) int {
	role, best := &p.Roles[r], Nobody
	var of ranksOf
	for m := range p.Members {
		if !role.May.Take[m] || p.full(m) || !allowed(m) {
			continue
		}
		if best == Nobody {
			best = m
			continue
		}
		c := cmp.Or(cmp.Compare(role.May.Priority[best], role.May.Priority[m]), p.compareMore(m, best))
		switch {
		case c < 0:
			best, of.known = m, false
		case c == 0 && of.less(p.Group, role, m, best):
			best = m
		}
	}
	return best
}

// ranksOf computes the ranks of members that are equal otherwise, once each.
type ranksOf struct {
	ranks Ranks
	best  uint64 // that of the best member
	known bool
	begun bool
}

// less reports whether a member comes before the best one, and is the best one then.
func (of *ranksOf) less(g *Group, role *Role, m, best int) bool {
	if !of.begun {
		of.ranks, of.begun = RanksFor(role.Name), true
	}
	if !of.known {
		of.best, of.known = of.ranks.Of(g.Members[best].Name), true
	}
	rank := of.ranks.Of(g.Members[m].Name)
	if cmp.Or(cmp.Compare(rank, of.best), cmp.Compare(g.Members[m].Name, g.Members[best].Name)) >= 0 {
		return false
	}
	of.best = rank
	return true
}

// deal deals out the vacant roles (S2). Those that can be claimed at once come first. So what is
// left when they are claimed is dealt as before, by a member that makes its plan only then, too.
func (p *planner) deal() {
	vacant := slices.DeleteFunc(slices.Clone(p.byAge), func(r int) bool { return p.at[r] != Nobody })
	slices.SortStableFunc(vacant, func(a, b int) int {
		return cmp.Or(compareBool(p.Roles[a].Waits, p.Roles[b].Waits), cmp.Compare(p.Roles[a].Fell, p.Roles[b].Fell))
	})
	for _, r := range vacant {
		m := p.choose(r, func(m int) bool { return !p.clashes(r, m) })
		if m == Nobody {
			m = p.choose(r, func(int) bool { return true })
		}
		if m != Nobody {
			p.put(r, m)
		}
	}
}

// separate moves roles that are to be apart (S6), and reports whether there were any.
func (p *planner) separate() (moved bool) {
	for _, r := range p.byAge {
		if from := p.at[r]; from != Nobody && p.clashes(r, from) {
			if to := p.choose(r, func(m int) bool { return p.mayMove(r, from, m) }); to != Nobody {
				p.move(r, to)
				moved = true
			}
		}
	}
	return moved
}

// mayMove reports whether a role may move between two members: never to a lower priority (S5), and
// never beside one that it is to be apart from (S6).
func (p *planner) mayMove(r, from, to int) bool {
	may := p.Roles[r].May
	return from != to && may.Take[to] && may.Priority[to] >= may.Priority[from] && !p.clashes(r, to)
}

// plan is what has become of it.
func (p *planner) plan() Plan {
	plan := Plan{Loads: p.load, To: p.at}
	for _, r := range p.byAge {
		if from := p.Roles[r].At; from != Nobody && from != p.at[r] {
			plan.Moves = append(plan.Moves, Move{r, from, p.at[r]})
		}
	}
	return plan
}

// Room is how many roles of the group a member may lead while the moves are made: those of the end,
// and those that it has to give away. Members that exchange roles could not begin otherwise.
func (p *Plan) Room(m int) int {
	n := p.Loads[m]
	for _, move := range p.Moves {
		if move.From == m {
			n++
		}
	}
	return n
}

// Unplaced is the roles that only full members could take.
func (p *Plan) Unplaced() (roles []int) {
	for r, m := range p.To {
		if m == Nobody {
			roles = append(roles, r)
		}
	}
	return roles
}
