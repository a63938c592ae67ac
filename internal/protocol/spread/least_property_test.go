package spread

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestFewestMoves: with caps, roles that are to be apart, zones, priorities and weights, a plan
// moves as few roles as anything that is at least as good, or a quarter more. All there is is
// tried.
func TestFewestMoves(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T, *Group){
		"caps": func(*rapid.T, *Group) {}, "apart": drawApart, "zones": drawZones,
		"all": func(t *rapid.T, g *Group) { drawApart(t, g); drawZones(t, g) },
	} {
		t.Run(name, func(t *testing.T) {
			moves, fewest, worlds := 0, 0, 0
			rapid.Check(t, func(t *rapid.T) {
				g := drawGroup(t, false, 6)
				draw(t, g)
				p := Make(g)
				moves, fewest, worlds = moves+len(p.Moves), fewest+fewestAsGood(g, p), worlds+1
			})
			if 4*moves > 5*fewest {
				t.Errorf("%d moves where %d would do", moves, fewest)
			}
			t.Logf("%s: %d moves, %d would do, in %d worlds", name, moves, fewest, worlds)
		})
	}
}

// drawApart has up to three pairs of roles be apart.
func drawApart(t *rapid.T, g *Group) {
	for r := range g.Roles {
		g.Roles[r].Apart = nil
	}
	for r := 0; r+1 < len(g.Roles); r += 2 {
		if rapid.Bool().Draw(t, "pair") {
			g.apart(r, r+1)
		}
	}
}

// drawZones has each member be in one of two zones, which come in one order for all roles.
func drawZones(t *rapid.T, g *Group) {
	tiers := make([]int32, len(g.Members))
	for m := range tiers {
		tiers[m] = int32(rapid.IntRange(0, 1).Draw(t, "tier"))
	}
	zoned := map[*May]*May{}
	for r := range g.Roles {
		may := g.Roles[r].May
		if zoned[may] == nil {
			z := &May{Take: may.Take, Priority: slices.Clone(may.Priority), Tier: tiers}
			for m := range z.Priority {
				z.Priority[m] += tiers[m] << 20
			}
			zoned[may] = z
		}
		g.Roles[r].May = zoned[may]
	}
}

// goodness is what a plan is for, each thing the smaller the better.
type goodness struct {
	unplaced int     // roles that nobody leads
	over     int     // roles beyond caps
	together int     // roles that are led beside one that they are to be apart from
	behind   int     // priority that vacant roles miss
	left     int     // roles that leave the tier of their zone
	cost     float64 // how uneven the loads are, as Webster's method counts
}

func (a goodness) asGood(b goodness) bool {
	return a.unplaced <= b.unplaced && a.over <= b.over && a.together <= b.together && a.behind <= b.behind &&
		a.left <= b.left && a.cost < b.cost+1e-9
}

func goodnessOf(g *Group, at []int) (is goodness) {
	is.cost = costOf(g, at)
	loads := make([]int, len(g.Members))
	for r, m := range at {
		role := &g.Roles[r]
		if m == Nobody {
			is.unplaced++
			continue
		}
		loads[m]++
		if slices.ContainsFunc(role.Apart, func(other int) bool { return at[other] == m }) {
			is.together++
		}
		switch {
		case role.At == Nobody:
			top := int32(math.MinInt32)
			for other, may := range role.May.Take {
				if may {
					top = max(top, role.May.Priority[other])
				}
			}
			is.behind += int(top - role.May.Priority[m])
		case !role.May.near(role.At, m):
			is.left++
		}
	}
	for m, member := range g.Members {
		if member.Cap > 0 {
			is.over += max(0, loads[m]+member.Pinned+member.Beside-member.Cap)
		}
	}
	return is
}

// fewestAsGood is the fewest moves of all assignments that are at least as good as a plan: those
// that move nothing to a lower priority.
func fewestAsGood(g *Group, p Plan) int {
	want, best := goodnessOf(g, p.To), len(p.Moves)
	at := make([]int, len(g.Roles))
	var try func(r, moves int)
	try = func(r, moves int) {
		if moves >= best {
			return
		}
		if r == len(g.Roles) {
			if goodnessOf(g, at).asGood(want) {
				best = moves
			}
			return
		}
		role := &g.Roles[r]
		if at[r] = role.At; role.At != Nobody { // it stays
			try(r+1, moves)
		} else if want.unplaced > 0 {
			try(r+1, moves)
		}
		for m, may := range role.May.Take {
			if !may || m == role.At || role.At != Nobody && role.May.Priority[m] < role.May.Priority[role.At] {
				continue
			}
			at[r] = m
			if role.At == Nobody {
				try(r+1, moves)
			} else {
				try(r+1, moves+1)
			}
		}
	}
	try(0, 0)
	return best
}
