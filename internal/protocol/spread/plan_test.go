package spread

import (
	"slices"
	"testing"
)

// group makes a group of equal members with these loads, and as many vacant roles.
func group(vacant int, loads ...int) *Group {
	g := &Group{Name: "g"}
	may := &May{}
	for i, n := range loads {
		g.Members = append(g.Members, Member{Name: string(rune('a' + i)), Weight: 1})
		may.Take, may.Priority = append(may.Take, true), append(may.Priority, 0)
		for range n {
			g.add(i, may)
		}
	}
	for range vacant {
		g.add(Nobody, may)
	}
	return g
}

func (g *Group) add(at int, may *May) *Role {
	n := uint64(len(g.Roles))
	g.Roles = append(g.Roles, Role{Name: "r" + string(rune('0'+n)), Revision: n + 1, At: at, May: may})
	return &g.Roles[n]
}

func (g *Group) apart(a, b int) {
	g.Roles[a].Apart, g.Roles[b].Apart = append(g.Roles[a].Apart, b), append(g.Roles[b].Apart, a)
}

// only makes a role one that these members alone may take.
func (g *Group) only(r int, members ...int) {
	may := &May{Take: make([]bool, len(g.Members)), Priority: make([]int32, len(g.Members))}
	for _, m := range members {
		may.Take[m] = true
	}
	g.Roles[r].May = may
}

func TestPlan(t *testing.T) {
	weighted := group(0, 6, 0)
	weighted.Members[1].Weight = 2
	pinned := group(6, 0, 0)
	pinned.Members[0].Pinned = 4
	capped := group(0, 6, 0)
	capped.Members[1].Cap, capped.Members[1].Beside = 3, 1
	tooMany := group(0, 4, 0)
	tooMany.Members[0].Cap = 1
	restricted := group(0, 6, 0)
	for r := range 5 {
		restricted.only(r, 0)
	}
	chain := group(0, 4, 2, 2) // what the first may give, only the second may take
	for r := range 4 {
		chain.only(r, 0, 1)
	}
	room := group(1, 1, 0)
	room.Members[0].Cap = 1
	room.only(1, 0)
	lower := group(0, 4, 0)
	for r := range 4 {
		lower.only(r, 0, 1)
		lower.Roles[r].May.Priority[0] = 1
	}
	higher := group(2, 3, 0)
	for r := range 5 {
		higher.only(r, 0, 1)
		higher.Roles[r].May.Priority[0] = 1
	}
	apart := group(0, 2, 0)
	apart.apart(0, 1)
	alone := group(0, 2)
	alone.apart(0, 1)
	other := group(1, 1, 1)
	other.Roles[2].Avoid = []bool{true, false}
	for _, c := range []struct {
		name  string
		g     *Group
		loads []int
		moves int
	}{
		{"nothing to do", group(0, 3, 2, 3), []int{3, 2, 3}, 0},
		{"one too many", group(0, 5, 3, 3, 3), nil, 1},
		{"all at the first", group(0, 10, 0, 0), []int{4, 3, 3}, 6},
		{"vacancies fill up first", group(4, 4, 0), []int{4, 4}, 0},
		{"weights", weighted, []int{2, 4}, 4},
		{"pinned roles are load", pinned, []int{5, 5}, 0},
		{"a cap over all groups", capped, []int{4, 2}, 2},
		{"more than it may", tooMany, []int{1, 3}, 3},
		{"roles that only one may take", restricted, []int{5, 1}, 1},
		{"a chain", chain, []int{3, 3, 2}, 1},
		{"room for a role that one alone may take", room, []int{1, 1}, 1},
		{"never to a lower priority", lower, []int{4, 0}, 0},
		{"vacancies go by priority first", higher, []int{5, 0}, 0},
		{"apart", apart, []int{1, 1}, 1},
		{"apart, with nobody else", alone, []int{2}, 0},
		{"apart from a role of another group", other, []int{1, 2}, 0},
	} {
		p := Make(c.g)
		if c.loads != nil && !slices.Equal(p.Loads, c.loads) || len(p.Moves) != c.moves || len(p.Unplaced()) > 0 {
			t.Errorf("%s: loads %v, want %v; %d moves, want %d; unplaced %v", c.name, p.Loads, c.loads, len(p.Moves), c.moves,
				p.Unplaced())
		}
	}
}

// TestLongChain: a role moves to make room for another one, and both arrive.
func TestLongChain(t *testing.T) {
	g := group(0, 4, 3, 2)
	for r := range 4 {
		g.only(r, 0, 1)
	}
	for r := 4; r < 7; r++ {
		g.only(r, 1, 2)
	}
	if p := Make(g); !slices.Equal(p.Loads, []int{3, 3, 3}) || len(p.Moves) != 2 {
		t.Errorf("loads %v with %v", p.Loads, p.Moves)
	}
}

// TestUnplaced: a role that only full members could take is led by nobody, and no other one is.
func TestUnplaced(t *testing.T) {
	g := group(3, 1, 1)
	g.Members[0].Cap, g.Members[1].Cap = 2, 2
	if p := Make(g); len(p.Unplaced()) != 1 || !slices.Equal(p.Loads, []int{2, 2}) || len(p.Moves) != 0 {
		t.Errorf("unplaced %v, loads %v, moves %v", p.Unplaced(), p.Loads, p.Moves)
	}
}

// TestOldestMoves: the role that has been led for longest moves first.
func TestOldestMoves(t *testing.T) {
	g := group(0, 4, 0)
	slices.Reverse(g.Roles)
	p := Make(g)
	if len(p.Moves) != 2 || g.Roles[p.Moves[0].Role].Revision != 1 || g.Roles[p.Moves[1].Role].Revision != 2 {
		t.Errorf("moves %v", p.Moves)
	}
}

func TestAdmits(t *testing.T) {
	for _, c := range []struct {
		count   Count
		cap     int
		balance bool
		quota   int
		want    bool
	}{
		{Count{Group: 2, All: 2}, 0, true, 3, true},
		{Count{Group: 3, All: 3}, 0, true, 3, false},
		{Count{Group: 3, All: 3}, 0, false, 3, true}, // by priority: the quota does not matter
		{Count{Group: 1, All: 4}, 4, true, 3, false},
		{Count{Group: 1, All: 4}, 4, false, 3, false},
		{Count{Group: 1, All: 3}, 4, false, 3, true},
	} {
		if got := c.count.Admits(c.cap, c.balance, c.quota); got != c.want {
			t.Errorf("%+v of %d, balance %v, quota %d: %v", c.count, c.cap, c.balance, c.quota, got)
		}
	}
}

func TestPromises(t *testing.T) {
	var p Promises
	p.Add("a", 10)
	p.Add("b", 20)
	p.Add("c", 30)
	p.End("c")
	count := func(now int64) (n int) {
		p.Each(now0(now), func(string) { n++ })
		return n
	}
	if got := []int{count(9), count(10), count(20)}; !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("%v promises", got)
	}
}

// TestBalanceStaysInATier: a role moves for the sake of balance to a member whose zone comes as
// early in its order, and to no better one: FailBackAfter decides about that. A member that leads
// more than it may gives a role to anybody that is not worse.
func TestBalanceStaysInATier(t *testing.T) {
	for name, c := range map[string]struct {
		tiers []int32
		limit int
		moves int
	}{
		"one tier":             {[]int32{0, 0}, 0, 2},
		"a better tier":        {[]int32{0, 1}, 0, 0},
		"more than it may":     {[]int32{0, 1}, 3, 1},
		"a worse tier, and so": {[]int32{1, 0}, 3, 0},
	} {
		may := &May{Take: []bool{true, true}, Priority: []int32{c.tiers[0] << 20, c.tiers[1] << 20}, Tier: c.tiers}
		g := Group{Members: []Member{{Name: "a", Weight: 1, Cap: c.limit}, {Name: "b", Weight: 1}}}
		for i := range 4 {
			g.Roles = append(g.Roles, Role{Name: string(rune('r' + i)), Revision: uint64(i + 1), At: 0, May: may})
		}
		if n := len(Make(&g).Moves); n != c.moves {
			t.Errorf("%s: %d moves, want %d", name, n, c.moves)
		}
	}
}
