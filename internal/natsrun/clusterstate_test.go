package natsrun

import "testing"

// TestWhole: streams can be made on a cluster when one of its servers leads and all others follow,
// and not before.
func TestWhole(t *testing.T) {
	for _, x := range []struct {
		stand []serverState
		whole bool
	}{
		{nil, false},
		{[]serverState{leads}, true},
		{[]serverState{follows, leads, follows}, true},
		{[]serverState{follows, follows, follows}, false},
		{[]serverState{leads, leads, follows}, false}, // one of them does not know yet that it was replaced
		{[]serverState{leads, follows, unrouted}, false},
		{[]serverState{leads, follows, behind}, false},
		{[]serverState{follows, leadsSome, follows}, false},
		{[]serverState{leads, leadsSome, follows}, false},
	} {
		var m quorum
		for i, s := range x.stand {
			m.add(nodeName(i), s)
		}
		if ok, seen := m.whole(); ok != x.whole {
			t.Errorf("%s: whole %t", seen, ok)
		}
	}
}
