package spread

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

func now0(n int64) record.Instant { return record.Instant(n) }

// drawGroup draws a group; plain ones have no weights, caps, priorities or restrictions.
func drawGroup(t *rapid.T, plain bool, most int) *Group {
	n := rapid.IntRange(1, 5).Draw(t, "members")
	g := &Group{Name: "g"}
	for i := range n {
		m := Member{Name: string(rune('a' + i)), Weight: 1}
		if !plain {
			m.Weight = rapid.IntRange(1, 3).Draw(t, "weight")
			m.Cap = rapid.SampledFrom([]int{0, 0, 2, 5}).Draw(t, "cap")
			m.Pinned = rapid.IntRange(0, 1).Draw(t, "pinned")
		}
		g.Members = append(g.Members, m)
	}
	all := &May{Take: slices.Repeat([]bool{true}, n), Priority: make([]int32, n)}
	for range rapid.IntRange(0, most).Draw(t, "roles") {
		r := g.add(rapid.IntRange(Nobody, n-1).Draw(t, "at"), all)
		if plain || rapid.IntRange(0, 2).Draw(t, "restricted") > 0 {
			continue
		}
		may := &May{Take: make([]bool, n), Priority: make([]int32, n)}
		for m := range n {
			may.Take[m] = m == r.At || rapid.Bool().Draw(t, "may")
			may.Priority[m] = int32(rapid.IntRange(0, 1).Draw(t, "priority"))
		}
		r.May = may
	}
	if !plain && len(g.Roles) > 2 && rapid.Bool().Draw(t, "apart") {
		g.apart(0, 1)
	}
	return g
}

// follow carries a plan out.
func follow(g *Group, p Plan) *Group {
	next := *g
	next.Roles = slices.Clone(g.Roles)
	for r := range next.Roles {
		next.Roles[r].At = p.To[r]
	}
	return &next
}

// TestEvenAndLeast: of equal members none leads two more than another, and the fewest roles move
// that can.
func TestEvenAndLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, true, 30)
		p := Make(g)
		if len(p.Loads) > 0 && slices.Max(p.Loads)-slices.Min(p.Loads) > 1 {
			t.Fatalf("loads %v", p.Loads)
		}
		loads, n := make([]int, len(g.Members)), len(g.Roles)
		for _, r := range g.Roles {
			if r.At != Nobody {
				loads[r.At]++
			}
		}
		slices.SortFunc(loads, func(a, b int) int { return cmp.Compare(b, a) })
		least := 0
		for i, l := range loads { // the largest loads keep the larger shares
			share := n / len(loads)
			if i < n%len(loads) {
				share++
			}
			least += max(0, l-share)
		}
		if len(p.Moves) != least {
			t.Fatalf("%d moves, %d would do: %v", len(p.Moves), least, loads)
		}
	})
}

// TestPlanHolds: what a plan may not do it does not do, whatever the group, and a plan that was
// carried out is followed by none.
func TestPlanHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, false, 14)
		p := Make(g)
		loads := make([]int, len(g.Members))
		for m := range g.Members {
			loads[m] = g.Members[m].Pinned
		}
		for r, m := range p.To {
			role := g.Roles[r]
			if m == Nobody {
				for k := range g.Members {
					if role.May.Take[k] && (g.Members[k].Cap == 0 || p.Loads[k] < g.Members[k].Cap) {
						t.Fatalf("%s is unplaced, and %s has room", role.Name, g.Members[k].Name)
					}
				}
				continue
			}
			loads[m]++
			if !role.May.Take[m] || role.At != Nobody && role.May.Priority[m] < role.May.Priority[role.At] {
				t.Fatalf("%s goes to %s", role.Name, g.Members[m].Name)
			}
		}
		if !slices.Equal(loads, p.Loads) {
			t.Fatalf("loads %v, and there are %v", p.Loads, loads)
		}
		before := make([]int, len(g.Members))
		for _, r := range g.Roles {
			if r.At != Nobody {
				before[r.At]++
			}
		}
		for m, member := range g.Members {
			if member.Cap > 0 && p.Loads[m] > max(member.Cap, before[m]+member.Pinned) {
				t.Fatalf("%s leads %d of %d", member.Name, p.Loads[m], member.Cap)
			}
		}
		if again := Make(follow(g, p)); len(again.Moves) > 0 {
			t.Fatalf("after %v move %v: %s", p.Moves, again.Moves, show(g, p))
		}
	})
}

// TestSamePlan: two processes that list members and roles in other orders make one plan.
func TestSamePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, false, 14)
		seed := rapid.Uint64().Draw(t, "order")
		other := shuffled(g, rand.New(rand.NewPCG(seed, 1)))
		if a, b := named(g), named(other); !slices.Equal(a, b) {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

func named(g *Group) (list []string) {
	p := Make(g)
	for r, m := range p.To {
		name := g.Roles[r].Name + " nobody"
		if m != Nobody {
			name = g.Roles[r].Name + " " + g.Members[m].Name
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func shuffled(g *Group, rng *rand.Rand) *Group {
	members, roles := rng.Perm(len(g.Members)), rng.Perm(len(g.Roles))
	place := func(perm []int, old int) int { return slices.Index(perm, old) }
	s := &Group{Name: g.Name}
	for _, m := range members {
		s.Members = append(s.Members, g.Members[m])
	}
	for _, old := range roles {
		r := g.Roles[old]
		may := &May{}
		for _, m := range members {
			may.Take, may.Priority = append(may.Take, r.May.Take[m]), append(may.Priority, r.May.Priority[m])
		}
		r.May = may
		if r.At != Nobody {
			r.At = place(members, r.At)
		}
		var apart []int
		for _, o := range r.Apart {
			apart = append(apart, place(roles, o))
		}
		r.Apart = apart
		s.Roles = append(s.Roles, r)
	}
	return s
}

// TestNearLeast: with restrictions, the moves of a plan are as few as those of the best plan with
// the same loads, or a quarter more.
func TestNearLeast(t *testing.T) {
	moves, fewest := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, false, 5)
		for m := range g.Members {
			g.Members[m].Cap = 0
		}
		for r := range g.Roles {
			g.Roles[r].Apart = nil
		}
		p := Make(g)
		least := fewestMoves(g)
		moves, fewest = moves+len(p.Moves), fewest+least
	})
	if 4*moves > 5*fewest {
		t.Errorf("%d moves where %d would do", moves, fewest)
	}
	t.Logf("%d moves, %d would do", moves, fewest)
}

// fewestMoves tries all there is: of the assignments that keep what is led and deal the rest, so
// that the loads cannot be better, the fewest moves.
func fewestMoves(g *Group) int {
	bestCost, best := math.Inf(1), 0
	at := make([]int, len(g.Roles))
	var try func(r, moves int)
	try = func(r, moves int) {
		if r == len(g.Roles) {
			cost := costOf(g, at)
			switch {
			case cost < bestCost-1e-9:
				bestCost, best = cost, moves
			case cost < bestCost+1e-9:
				best = min(best, moves)
			}
			return
		}
		role := &g.Roles[r]
		top := int32(math.MinInt32)
		for m, may := range role.May.Take {
			if may {
				top = max(top, role.May.Priority[m])
			}
		}
		for m, may := range role.May.Take {
			switch {
			case !may:
			case role.At == Nobody && role.May.Priority[m] < top:
			case role.At != Nobody && role.May.Priority[m] < role.May.Priority[role.At]:
			default:
				at[r] = m
				n := moves
				if role.At != Nobody && role.At != m {
					n++
				}
				try(r+1, n)
			}
		}
		if !slices.Contains(role.May.Take, true) {
			at[r] = Nobody
			try(r+1, moves)
		}
	}
	try(0, 0)
	return best
}

// costOf is what Webster's method makes least.
func costOf(g *Group, at []int) (cost float64) {
	for m, member := range g.Members {
		load := member.Pinned
		for _, a := range at {
			if a == m {
				load++
			}
		}
		cost += float64(load*load) / float64(member.Weight)
	}
	return cost
}

// show is a group for people.
func show(g *Group, p Plan) string {
	var b strings.Builder
	for m := range g.Members {
		fmt.Fprintf(&b, "\n%+v load %d", g.Members[m], p.Loads[m])
	}
	for r := range g.Roles {
		fmt.Fprintf(&b, "\n%d at %d to %d may %v %v apart %v", r, g.Roles[r].At, p.To[r], g.Roles[r].May.Take,
			g.Roles[r].May.Priority, g.Roles[r].Apart)
	}
	return b.String()
}
