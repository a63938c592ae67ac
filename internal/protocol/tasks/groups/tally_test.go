package groups

import (
	"slices"
	"testing"
)

func TestMembersAreNamedAfterTheirGroup(t *testing.T) {
	for id, want := range map[string]struct {
		group string
		index int
		ok    bool
	}{
		"group/a/0": {"group/a", 0, true}, "group/a/b/99999": {}, "group/a.b/99999": {"group/a.b", 99999, true},
		"group/a/100000": {}, "group//1": {},
		"group/a": {}, "group/7": {}, "group/a/07": {}, "group/a/-1": {}, "group/a/+1": {},
		"groups/a/1": {}, "a/1": {}, "": {},
	} {
		group, index, ok := MemberOf(id)
		if group != want.group || index != want.index || ok != want.ok {
			t.Errorf("%q: %q, %d, %t", id, group, index, ok)
		}
		if ok && MemberID(group, index) != id {
			t.Errorf("%q becomes %q", id, MemberID(group, index))
		}
	}
}

// TestWhatIsKnownOfAMemberOnlyGrows: whatever order records are read in.
func TestWhatIsKnownOfAMemberOnlyGrows(t *testing.T) {
	a := NewTally(5)
	for i := range 5 {
		a.Set(i, Open)
	}
	a.Set(0, Done)
	a.Set(1, Dead)
	a.Set(3, Expired)
	a.Set(1, Done) // requeued: its group does not look again
	a.Set(0, Open)
	a.Set(9, Done)
	a.Set(2, 15)
	closed, packed := a.Record()
	if !closed || len(packed) != 3 || a.Fresh() {
		t.Fatalf("%t, %x", closed, packed)
	}
	b := NewTally(5)
	b.Set(4, Cancelled)
	b.Merge(closed, packed)
	b.Set(2, Open)
	if b.Complete() || !b.Closed() || !b.Fresh() {
		t.Errorf("%+v", b)
	}
	b.Lose(func(int) bool { return true })
	if b.Complete() {
		t.Error("an open member is lost")
	}
	b.Lose(func(i int) bool { return i != 2 })
	if !b.Complete() || b.Count(Done) != 1 || b.Count(Dead) != 1 || b.Count(Expired) != 1 || b.Count(Cancelled) != 1 ||
		b.Count(Lost) != 1 || !slices.Equal(b.Failed(9), []int{1, 2, 3, 4}) || !slices.Equal(b.Failed(2), []int{1, 2}) {
		t.Errorf("%+v", b)
	}
	open := NewTally(3)
	open.Set(0, Done)
	if open.Lose(func(int) bool { return false }); open.Closed() || open.Count(Lost) > 0 {
		t.Errorf("a group whose members are still being submitted has lost some: %+v", open)
	}
}
