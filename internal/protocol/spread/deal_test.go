package spread

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDealsInTheOrderInWhichTheyFell: a member that has seen a part of the vacancies deals those as
// one that sees all of them at once, whatever the ages of their records.
func TestDealsInTheOrderInWhichTheyFell(t *testing.T) {
	for seen := range 7 {
		late, all := group(6, 3, 2, 2, 3), group(6, 3, 2, 2, 3)
		for r := range all.Roles {
			if all.Roles[r].At == Nobody {
				fell := uint64(100 + (r*5)%7) // other than their ages
				late.Roles[r].Fell, all.Roles[r].Fell = fell, fell
			}
		}
		want := Make(all)
		first := *late
		first.Roles = nil
		var places []int
		for r, role := range late.Roles {
			if role.At != Nobody || role.Fell < uint64(100+seen) {
				first.Roles, places = append(first.Roles, role), append(places, r)
			}
		}
		for i, to := range Make(&first).To {
			late.Roles[places[i]].At = to
		}
		got := Make(late)
		for r := range all.Roles {
			if got.To[r] != want.To[r] {
				t.Errorf("%d seen before: role %d is dealt to %d, want %d", seen, r, got.To[r], want.To[r])
			}
		}
	}
}

// TestDealsFirstWhatCanBeClaimed: a role was lost, and all wait before they claim it. Others fall
// vacant meanwhile, and are claimed at once. A member that makes its plan after that deals the role
// that was lost as one that has made its plan before.
func TestDealsFirstWhatCanBeClaimed(t *testing.T) {
	for preferred := range 2 {
		g := group(2, 3, 3)
		other, lost := &g.Roles[6], &g.Roles[7]
		other.May = &May{Take: []bool{true, true}, Priority: make([]int32, 2)}
		other.May.Priority[preferred] = 1
		lost.Fell, lost.Waits, other.Fell = 100, true, 101
		want := Make(g).To
		if want[6] != preferred {
			t.Fatalf("the other role is dealt to %d, want %d", want[6], preferred)
		}
		other.At = preferred
		if to := Make(g).To[7]; to != want[7] {
			t.Errorf("it is dealt to %d after the other role was claimed, and to %d before", to, want[7])
		}
	}
}

// TestNothingIsLeft: the roles of a dead member are dealt out by one member after the other,
// each of which has seen some of the claims before its plan, in the order in which they were
// dealt. No role is left by each to another. (Some are where claims are seen in another order,
// in one of a hundred groups, or where weights, priorities or roles that are apart move others,
// in one of thousands. The next plan deals those out.)
func TestNothingIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, true, 14)
		g = follow(g, Make(g))
		dead := rapid.IntRange(0, len(g.Members)-1).Draw(t, "dead")
		g.Members = slices.Delete(g.Members, dead, dead+1)
		n := len(g.Members)
		all := &May{Take: slices.Repeat([]bool{true}, n), Priority: make([]int32, n)}
		for i := range g.Roles {
			r := &g.Roles[i]
			switch r.May = all; {
			case r.At == dead:
				r.At, r.Fell = Nobody, 1000
			case r.At > dead:
				r.At--
			}
		}
		claims := map[int]int{} // who has claimed a role
		for _, m := range rapid.Permutation([]int{0, 1, 2, 3, 4}[:n]).Draw(t, "order") {
			seen := *g
			seen.Roles = slices.Clone(g.Roles)
			unseen := make([]bool, n) // whose later claims are not seen either
			for i := range seen.Roles {
				if by, ok := claims[i]; ok && !unseen[by] {
					if unseen[by] = rapid.Bool().Draw(t, "late"); !unseen[by] {
						seen.Roles[i].At, seen.Roles[i].Revision = by, uint64(2000+i)
					}
				}
			}
			for i, to := range Make(&seen).To {
				if _, ok := claims[i]; !ok && to == m && seen.Roles[i].At == Nobody {
					claims[i] = m
				}
			}
		}
		for i := range g.Roles {
			if _, ok := claims[i]; !ok && g.Roles[i].At == Nobody && n > 0 {
				t.Fatalf("%s is left by all", g.Roles[i].Name)
			}
		}
	})
}
