package bundles

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAnIDLeadsToItsBlock: there and back, whatever the block is called.
func TestAnIDLeadsToItsBlock(t *testing.T) {
	seen := map[string]bool{}
	for i := range Most {
		id := ID("client.z", i)
		if block, index, ok := Split(id); !ok || block != "client.z" || index != i || seen[id] {
			t.Fatalf("%s: %q, %d, %t", id, block, index, ok)
		}
		seen[id] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.StringMatching(`[a-zA-Z0-9/_=-]{1,22}(\.[a-zA-Z0-9]{1,5}){1,3}`).Draw(t, "block")
		i := rapid.IntRange(0, Most-1).Draw(t, "index")
		if b, index, ok := Split(ID(block, i)); !ok || b != block || index != i {
			t.Fatalf("%q, %d, %t", b, index, ok)
		}
	})
}

// TestForeignIDs are of no block: no index is written like that.
func TestForeignIDs(t *testing.T) {
	for _, id := range []string{
		"", ".", "..", "a", "a.b", ".1", "a.1", ".a.", "a.b.", "a.b.-1", "a.b.+1", "a.b.01", "a.b.00", "a.b.A", "a.b. 1",
		"a.b.1 ", "a.b.1_0", "a.b.rs", "a.b.zzz", "a.b.1000", "a.b.zzzzzzzzzzzzzzzzzz", "a.b.1/2", "group/a.b.c/7",
		"recur/a.b/20260101T000000Z",
	} {
		if block, index, ok := Split(id); ok {
			t.Errorf("%q: %q, %d", id, block, index)
		}
	}
	for id, want := range map[string]int{"a.b.0": 0, "a.b.rr": Most - 1, "a.b.c.1": 1} {
		if _, index, ok := Split(id); !ok || index != want {
			t.Errorf("%q: %d, %t", id, index, ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringOf(rapid.SampledFrom([]rune("a.01zAZ-/"))).Draw(t, "id")
		if block, index, ok := Split(id); ok &&
			(ID(block, index) != id || index < 0 || index >= Most || !strings.Contains(block, ".")) {
			t.Fatalf("%q, %d", block, index)
		}
	})
}
