package snapshot

import (
	"reflect"
	"testing"
)

type knot struct {
	name  string
	other *knot
	all   []*knot
	by    map[*knot]int
	each  [3]int8
	rev   uint64
	at    int64
	note  string
}

type instant int64

type dated struct{ at instant }

func rules() *Rules {
	return &Rules{
		Omitted: map[string]string{"knot.note": "not looked at", "knot.by": "follows from all"},
		Instant: reflect.TypeFor[instant](), Horizon: 10,
		Number: func(x uint64) (Name, bool) { return Name{Class: Revision, Value: x - 1000}, x >= 1000 },
		Text: func(s string) (Name, bool) {
			return Name{Class: Member, Value: uint64(len(s) - 1)}, s != "" && s[0] == '='
		},
	}
}

// tied returns two knots that refer to each other.
func tied(a, b uint64) *knot {
	x, y := &knot{name: "x", rev: a}, &knot{name: "y", rev: b}
	x.other, y.other = y, x
	x.all = []*knot{x, y}
	x.by = map[*knot]int{x: 1, y: 2}
	return x
}

func TestCloneKeepsCyclesAndSharesNothing(t *testing.T) {
	x := tied(1001, 1002)
	c := Clone(NewCloner(rules()), x)
	switch {
	case c == x, c.other == x.other:
		t.Fatal("the copy is the original")
	case c.other.other != c, c.all[0] != c, c.all[1] != c.other:
		t.Fatal("what was the same is not the same any more")
	case c.by[c] != 1, c.by[c.other] != 2, len(c.by) != 2:
		t.Fatalf("the keys of a map do not point into the copy: %v", c.by)
	}
	c.other.rev, c.all[1] = 7, nil
	if x.other.rev != 1002 || x.all[1] != x.other {
		t.Fatal("a change of the copy has changed the original")
	}
}

// whole has a part that others point at.
type whole struct {
	name string
	part part
}

type part struct {
	n  int
	of *whole
}

func TestClonePointsIntoTheCopy(t *testing.T) {
	type both struct {
		first *whole
		then  map[int]*part
	}
	w := &whole{name: "w"}
	w.part.of = w
	x := &both{w, map[int]*part{1: &w.part, 2: {n: 2, of: w}}}
	c := Clone(NewCloner(rules()), x)
	c.then[1].n = 7
	if c.first.name != "w" || c.first.part.n != 7 || w.part.n != 0 || c.first.part.of != c.first ||
		c.then[2] == x.then[2] || c.then[2].of != c.first {
		t.Errorf("the copy %+v does not hang together as the original does", c.first)
	}
	type reverse struct {
		first *part
		then  *whole
	}
	defer func() {
		if recover() == nil {
			t.Error("a part was copied before its whole, and nobody noticed")
		}
	}()
	Clone(NewCloner(rules()), &reverse{&w.part, w})
}

func partOf(x *knot, now int64) *Part {
	var w Walk
	w.Begin(0, now)
	Look(NewLooker(rules()), &w, x)
	p := w.Part()
	return &p
}

func TestNamesCountByTheirOrder(t *testing.T) {
	var r Renamer
	sum := func(a, b uint64) Sum { return r.Fingerprint([]*Part{partOf(tied(a, b), 0)}, []uint8{0}) }
	if sum(1001, 1002) != sum(1005, 1900) {
		t.Error("revisions in the same order are told apart")
	}
	if sum(1001, 1002) == sum(1002, 1001) {
		t.Error("revisions in another order are not told apart")
	}
	if sum(1001, 1002) == sum(1001, 1001) {
		t.Error("two revisions are not told from one")
	}
	if sum(1, 2) == sum(1, 3) {
		t.Error("numbers that are not names do not count")
	}
}

func TestMembersCanChangePlaces(t *testing.T) {
	var r Renamer
	named := func(name string) *Part { return partOf(&knot{name: name}, 0) }
	one := r.Fingerprint([]*Part{named("="), named("==")}, []uint8{0, 1})
	if other := r.Fingerprint([]*Part{named("=="), named("=")}, []uint8{1, 0}); one != other {
		t.Error("two members that have changed places are told apart")
	}
	if same := r.Fingerprint([]*Part{named("="), named("=")}, []uint8{0, 1}); one == same {
		t.Error("two members are not told from one")
	}
}

func TestOmittedFieldsDoNotCount(t *testing.T) {
	if partOf(&knot{note: "a"}, 0).Sum != partOf(&knot{note: "b"}, 0).Sum {
		t.Error("an omitted field counts")
	}
	if partOf(&knot{at: 1}, 0).Sum == partOf(&knot{at: 2}, 0).Sum {
		t.Error("a field that is not omitted does not count")
	}
	if partOf(&knot{each: [3]int8{1, 0, 2}}, 0).Sum == partOf(&knot{each: [3]int8{1, 2, 0}}, 0).Sum {
		t.Error("the last element of an array does not count")
	}
}

// TestCountersTellPartsApart: of one of them the next name may be another's that is still about.
func TestCountersTellPartsApart(t *testing.T) {
	type counting struct{ next, name uint64 }
	r := rules()
	r.Apart = map[string]string{"counting.next": "makes the next name"}
	part := func(next, name uint64) Part {
		var w Walk
		w.Begin(0, 0)
		Look(NewLooker(r), &w, &counting{next, 1000 + name})
		return w.Part()
	}
	p, q, same := part(1, 7), part(2, 7), part(2, 7)
	if p.Sum != q.Sum {
		t.Error("states are told apart by it")
	}
	if p.Exact() == q.Exact() || q.Exact() != same.Exact() {
		t.Error("parts are not told apart by it, or by something else")
	}
}

func TestTimeIsRelative(t *testing.T) {
	sum := func(at, now int64) Sum {
		var w Walk
		w.Begin(0, now)
		Look(NewLooker(rules()), &w, &dated{instant(at)})
		return w.Sum
	}
	switch {
	case sum(105, 100) != sum(1005, 1000):
		t.Error("the same distance from now is told apart")
	case sum(105, 100) == sum(106, 100):
		t.Error("two distances from now are not told apart")
	case sum(50, 100) != sum(60, 100):
		t.Error("what lies beyond the horizon is told apart")
	case sum(0, 100) == sum(50, 100):
		t.Error("never set is not told from long ago")
	}
}

// TestNamesInLists: numbers of a list are names where the rules say so, and only there.
func TestNamesInLists(t *testing.T) {
	type queue struct{ open, plain []uint64 }
	listed := &Rules{
		Fields: map[string]Class{"queue.open": Write}, Instant: reflect.TypeFor[instant](),
		Number: func(uint64) (Name, bool) { return Name{}, false },
		Text:   func(string) (Name, bool) { return Name{}, false },
	}
	var r Renamer
	sum := func(q queue) Sum {
		var w Walk
		w.Begin(0, 0)
		Look(NewLooker(listed), &w, &q)
		p := w.Part()
		return r.Fingerprint([]*Part{&p}, []uint8{0})
	}
	if sum(queue{open: []uint64{3, 4}}) != sum(queue{open: []uint64{5, 9}}) {
		t.Error("names of a list in the same order are told apart")
	}
	if sum(queue{open: []uint64{3, 4}}) == sum(queue{open: []uint64{4, 3}}) {
		t.Error("names of a list in another order are not told apart")
	}
	if sum(queue{plain: []uint64{3}}) == sum(queue{plain: []uint64{5}}) {
		t.Error("other numbers of a list do not count")
	}
}
