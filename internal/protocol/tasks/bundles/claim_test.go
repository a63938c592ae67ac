package bundles

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestWhatARefusedBundleHasMet: only a record of its own name says that the bundle is stored.
func TestWhatARefusedBundleHasMet(t *testing.T) {
	const name = "client.1.0"
	for what, x := range map[string]struct {
		stands Standing
		want   Fate
		open   bool
	}{
		"nothing, from a server that lags":           {Standing{}, FateUnknown, true},
		"the bundle, or what has taken its place":    {Standing{Name: name}, FateStored, false},
		"the claim of its block":                     {Standing{Name: ClaimOf(name)}, FateShutOut, false},
		"a bundle of those who came before or after": {Standing{Name: "client.1.7"}, FateShutOut, false},
	} {
		if fate, open := x.stands.FateOf(name), x.stands.Open(); fate != x.want || open != x.open {
			t.Errorf("%s: %v, open %t; want %v, %t", what, fate, open, x.want, x.open)
		}
	}
}

// TestNoBundleHasTheNameOfAClaim: all tasks of a block have one claim, among the bundles of the
// block. No bundle of two tasks or more has its name.
func TestNoBundleHasTheNameOfAClaim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const block = "client.1"
		claim := ClaimOf(ID(block, rapid.IntRange(0, Most-1).Draw(t, "task")))
		if of, index, ok := Split(claim); of != block || index != Most-1 || !ok {
			t.Fatalf("%s is at %d of block %q, %t", claim, index, of, ok)
		}
		indexes := rapid.SliceOfNDistinct(rapid.IntRange(0, Most-1), 2, Most, rapid.ID).Draw(t, "members")
		if name := ID(block, slices.Min(indexes)); name == claim {
			t.Fatalf("a bundle of %d has the name of the claim", len(indexes))
		}
	})
}
