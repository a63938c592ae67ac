package bundles

import (
	"testing"

	"pgregory.net/rapid"
)

// TestMaker: no id is made twice, each is of its block, and none is made in a block that was left.
func TestMaker(t *testing.T) {
	m := NewMaker("client")
	made, left, blocks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range 5 * Most {
		id := m.ID(1, 2*Most)
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
	before := m.ID(1, 2*Most)
	m.Leave("client.1")
	block, index, _ := Split(before)
	if next := m.ID(1, 2*Most); next != ID(block, index+1) {
		t.Errorf("%s, and then %s: an earlier block was left", before, next)
	}
}

// TestABlockHasRoomInOneBundle: the tasks of a block have room in one bundle, or it has one of them
// that goes in a bundle. No block ends that has room for the next task.
func TestABlockHasRoomInOneBundle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const room = 100
		m := NewMaker("client")
		bytes, members, last := map[string]int{}, map[string]int{}, ""
		for range rapid.IntRange(1, 200).Draw(t, "tasks") {
			size := rapid.IntRange(0, 60).Draw(t, "bytes")
			block, _, _ := Split(m.ID(size, room))
			if last != "" && block != last && bytes[last]+size <= room {
				t.Fatalf("block %s ends with %d bytes before a task of %d", last, bytes[last], size)
			}
			if size > 0 {
				members[block]++
			}
			if bytes[block] += size; bytes[block] > room && members[block] > 1 {
				t.Fatalf("%d members of %d bytes in block %s", members[block], bytes[block], block)
			}
			last = block
		}
	})
}
