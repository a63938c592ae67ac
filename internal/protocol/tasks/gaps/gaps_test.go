package gaps

import "testing"

// come is a record that is read: its revision, and the one that it was written over; and for a
// seal what is said to be missing.
type come struct {
	revision, over uint64
	seal           bool
	missed         uint64
}

func TestReading(t *testing.T) {
	for name, steps := range map[string][]come{
		"what was left out before the first seal says nothing": {
			{revision: 5}, {revision: 30, seal: true}, {revision: 31, seal: true},
		},
		"a gap between two seals": {
			{revision: 30, seal: true}, {revision: 32, seal: true, missed: 30}, {revision: 33, seal: true},
		},
		"a gap between the last two": {
			{revision: 30, seal: true}, {revision: 31, seal: true}, {revision: 33, seal: true, missed: 31},
		},
		"what has taken its place comes in time": {
			{revision: 30, seal: true}, {revision: 32, over: 31}, {revision: 33, seal: true},
		},
		"what has taken its place comes behind the second seal": {
			{revision: 30, seal: true},
			{revision: 32, seal: true, missed: 30},
			{revision: 34, over: 31},
			{revision: 36, seal: true, missed: 32},
		},
		"what has taken its place is left out too": {
			{revision: 30, seal: true},
			{revision: 32, seal: true, missed: 30},
			{revision: 34, over: 33},
			{revision: 36, seal: true, missed: 30},
		},
		"a gap in each stretch": {
			{revision: 30, seal: true},
			{revision: 32, seal: true, missed: 30},
			{revision: 34, seal: true, missed: 30},
			{revision: 36, seal: true, missed: 30},
			{revision: 37, seal: true},
		},
		"too many": {
			{revision: 30, seal: true}, {revision: 40 + Most, seal: true, missed: 30}, {revision: 41 + Most, seal: true},
		},
	} {
		var r Reading
		for i, s := range steps {
			r.Read(s.revision, s.over)
			if !s.seal {
				continue
			}
			if missed := r.Seal(); missed != s.missed {
				t.Errorf("%s: step %d: %d may be missed, want %d", name, i, missed, s.missed)
			}
		}
	}
}

// TestFewAreKept: a reading that never comes to another seal needs no more memory for each record.
func TestFewAreKept(t *testing.T) {
	var r Reading
	r.Read(1, 0)
	r.Seal()
	for n := uint64(3); n < 10*Most; n += 2 {
		r.Read(n, 0)
		if len(r.now.missing) > Most {
			t.Fatalf("%d gaps are kept", len(r.now.missing))
		}
	}
	if r.Any() {
		t.Error("gaps are kept of which it is known that they are not all")
	}
	r.Read(30*Most, 0)
	if missed := r.Seal(); missed != 1 {
		t.Errorf("%d may be missed", missed)
	}
}
