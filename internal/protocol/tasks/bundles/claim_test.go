package bundles

import "testing"

// TestWhatARefusedBundleHasMet: only a record of its own name that is not a claim says that the
// bundle is stored.
func TestWhatARefusedBundleHasMet(t *testing.T) {
	const name = "client.1.0"
	for what, x := range map[string]struct {
		stands Standing
		want   Fate
		open   bool
	}{
		"nothing, from a server that lags":           {Standing{}, FateUnknown, true},
		"the bundle, or what has taken its place":    {Standing{Name: name}, FateStored, false},
		"a claim for its first task":                 {Standing{Name: name, Claim: true}, FateShutOut, false},
		"a claim for another task":                   {Standing{Name: "client.1.7", Claim: true}, FateShutOut, false},
		"a bundle of those who came before or after": {Standing{Name: "client.1.7"}, FateShutOut, false},
	} {
		if fate, open := x.stands.FateOf(name), x.stands.Open(); fate != x.want || open != x.open {
			t.Errorf("%s: %v, open %t; want %v, %t", what, fate, open, x.want, x.open)
		}
	}
}
