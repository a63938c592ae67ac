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
