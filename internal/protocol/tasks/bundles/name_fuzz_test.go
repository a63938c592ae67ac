package bundles

import "testing"

// FuzzSplit: an id is of a block only if it is made as its block and index say.
func FuzzSplit(f *testing.F) {
	for _, id := range []string{
		"client.1.0", "client.1.rr", "client.1.rs", "client.1.00", "client.1.A", "client.1", "a.b.c.d", ".1.0", "..0", "",
		"client.1.-1",
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		block, index, ok := Split(id)
		if ok && (ID(block, index) != id || index < 0 || index >= Most || block == "") {
			t.Errorf("%q is %d of %q", id, index, block)
		}
		if !ok && (block != "" || index != 0) {
			t.Errorf("%q is of no block, and %d of %q", id, index, block)
		}
	})
}
