package tasks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTheTable finds every task that is in, by its id, however many share a hash, and no other one.
func TestTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.Uint32Range(1, 50).Draw(t, "hashes")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		x, in := newTable(), map[string]*task{}
		for range 300 {
			n := rng.Uint32N(100)
			id, h := fmt.Sprint("t", n), n%hashes
			switch was := in[id]; {
			case x.find(h, id) != was:
				t.Fatalf("%s: %v, and %v was added", id, x.find(h, id), was)
			case was != nil:
				x.drop(h, was)
				delete(in, id)
			default:
				k := &task{}
				k.name(id, nil, "")
				x.put(h, k)
				in[id] = k
			}
			listed := map[string]*task{}
			for k := range x.all() {
				if x.slots[k.slot] != k {
					t.Fatalf("%s is not in its place", k.id())
				}
				listed[k.id()] = k
			}
			if x.len() != len(in) || len(listed) != len(in) {
				t.Fatalf("%d tasks, %d are listed, and %d were added", x.len(), len(listed), len(in))
			}
		}
	})
}

// TestTheTableIsAsLargeAsItHasToBe, also after a burst.
func TestTheTableIsAsLargeAsItHasToBe(t *testing.T) {
	x := newTable()
	all := make([]*task, 1000)
	for i := range all {
		all[i] = &task{}
		all[i].name(fmt.Sprint(i), nil, "")
		x.add(all[i])
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, k := range all[10:] {
		x.remove(k)
	}
	for range 10_000 { // each takes a hole
		k := all[0]
		x.remove(k)
		x.add(k)
		all = append(all[1:10], k)
	}
	if len(x.slots) > 1000 || len(x.holes) > 2000 {
		t.Errorf("%d places and %d holes for 10 tasks", len(x.slots), len(x.holes))
	}
	for _, k := range all {
		x.remove(k)
	}
	if len(x.slots)+len(x.holes)+len(x.first) > 0 {
		t.Errorf("%d places, %d holes and %d hashes of nothing", len(x.slots), len(x.holes), len(x.first))
	}
}

// TestNamesOfATask: an id, keys and a tag are what they were, in every combination.
func TestNamesOfATask(t *testing.T) {
	texts := []string{"", "a", "id-of-some-length", string(slices.Repeat([]byte("k"), 256))}
	for i := range len(texts) * len(texts) * len(texts) {
		want := Keys{texts[i%4], texts[i/4%4], texts[i/16], texts[i%5%4]}
		want.Unique, want.Fair = want.Unique[:min(len(want.Unique), 200)], want.Fair[:min(len(want.Fair), 200)]
		var x task
		tag := texts[i%3]
		x.name("the-id", &want, tag)
		switch got := x.keys(); {
		case x.tag() != tag:
			t.Errorf("tag %q, want %q", x.tag(), tag)
		case x.id() != "the-id" || x.unique() != want.Unique || x.sticky() != want.Sticky ||
			x.limit() != want.Limit || x.fair() != want.Fair:
			t.Errorf("%q %q %q %q %q, want %+v",
				x.id(), x.unique(), x.sticky(), x.limit(), x.fair(), want)
		case want == Keys{}:
			if got != nil {
				t.Errorf("keys of none: %+v", got)
			}
		case got == nil || *got != want:
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
