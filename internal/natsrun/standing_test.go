package natsrun

import "testing"

// TestWhole: streams can be made on a cluster when one of its servers leads and all others follow,
// and not before.
func TestWhole(t *testing.T) {
	for _, x := range []struct {
		stand []standing
		whole bool
	}{
		{nil, false},
		{[]standing{leads}, true},
		{[]standing{follows, leads, follows}, true},
		{[]standing{follows, follows, follows}, false},
		{[]standing{leads, leads, follows}, false}, // one of them does not know yet that it was replaced
		{[]standing{leads, follows, unrouted}, false},
		{[]standing{leads, follows, behind}, false},
		{[]standing{follows, leadsSome, follows}, false},
		{[]standing{leads, leadsSome, follows}, false},
	} {
		var m muster
		for i, s := range x.stand {
			m.add(nodeName(i), s)
		}
		if ok, seen := m.whole(); ok != x.whole {
			t.Errorf("%s: whole %t", seen, ok)
		}
	}
}
