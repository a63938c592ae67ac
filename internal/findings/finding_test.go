package findings

import "testing"

// TestWorst: a known fault counts more than an unknown state, and that more than a healthy one.
func TestWorst(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		levels []Level
		want   Level
	}{
		{nil, OK},
		{[]Level{OK, OK}, OK},
		{[]Level{OK, Unknown}, Unknown},
		{[]Level{Unknown, Warning}, Warning},
		{[]Level{Warning, Unknown}, Warning},
		{[]Level{Critical, Unknown, Warning, OK}, Critical},
	} {
		var f List
		for _, l := range test.levels {
			f.Add(l, "", "", "")
		}
		if got := f.Worst(); got != test.want {
			t.Errorf("%v: %v, want %v", test.levels, got, test.want)
		}
	}
}
