package main

import "testing"

func TestPreference(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		for r := range 3 {
			if p := preference(r%n, r, n); p != n {
				t.Errorf("of %d instances, %d has priority %d for role %d", n, r%n, p, r)
			}
			seen := map[int]bool{}
			for i := range n {
				p := preference(i, r, n)
				if p < 1 || p > n || seen[p] {
					t.Errorf("of %d instances, %d has priority %d for role %d", n, i, p, r)
				}
				seen[p] = true
			}
		}
	}
}
