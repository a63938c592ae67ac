package bundles

import "testing"

// TestMaker: no id is made twice, each is of its block, and none is made in a block that was left.
func TestMaker(t *testing.T) {
	m := NewMaker("client")
	made, left, blocks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range 5 * Most {
		id := m.ID()
		block, _, ok := Split(id)
		if !ok || made[id] || left[block] {
			t.Fatalf("%s: of block %q, made before: %v, of a block that was left: %v", id, block, made[id], left[block])
		}
		made[id], blocks[block] = true, true
		if i%700 == 699 {
			m.Leave(block)
			left[block] = true
		}
	}
	if len(blocks) < 7 || len(blocks) > 8 {
		t.Errorf("%d blocks", len(blocks))
	}
	before := m.ID()
	m.Leave("client.1")
	block, index, _ := Split(before)
	if next := m.ID(); next != ID(block, index+1) {
		t.Errorf("%s, and then %s: an earlier block was left", before, next)
	}
}
