package bundles

import (
	"testing"

	"pgregory.net/rapid"
)

// TestASetHoldsWhatWasAdded, and tells each once. Beyond its bytes it holds nothing.
func TestASetHoldsWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, Most).Draw(t, "size")
		s, want := NewSet(size), map[int]bool{}
		for _, place := range rapid.SliceOf(rapid.IntRange(0, size-1)).Draw(t, "places") {
			if s.Add(place) == want[place] {
				t.Fatalf("%d is told twice, or never", place)
			}
			want[place] = true
		}
		for place := range size + 20 {
			if s.Has(place) != want[place] {
				t.Fatalf("%d: %t", place, s.Has(place))
			}
		}
		if s.Len() != len(want) || len(s) != (size+7)/8 {
			t.Fatalf("%d of %d in %d bytes", s.Len(), len(want), len(s))
		}
	})
	if Set(nil).Has(0) || Set(nil).Len() != 0 {
		t.Error("an empty set")
	}
}
