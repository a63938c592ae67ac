package doctor

import "testing"

// TestWorst: a known fault counts more than an unknown state, and that more than a healthy one.
func TestWorst(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		levels []severity
		want   severity
	}{
		{nil, healthy},
		{[]severity{healthy, healthy}, healthy},
		{[]severity{healthy, unknown}, unknown},
		{[]severity{unknown, warning}, warning},
		{[]severity{warning, unknown}, warning},
		{[]severity{critical, unknown, warning, healthy}, critical},
	} {
		var f findings
		for _, l := range test.levels {
			f.add(l, "", "", "")
		}
		if got := f.worst(); got != test.want {
			t.Errorf("%v: %v, want %v", test.levels, got, test.want)
		}
	}
}
