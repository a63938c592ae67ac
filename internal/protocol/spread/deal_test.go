package spread

import "testing"

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
