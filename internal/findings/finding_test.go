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

// TestDead: dead tasks are something to do.
func TestDead(t *testing.T) {
	t.Parallel()
	var f List
	f.Dead("jobs", Dead{})
	if len(f) != 0 {
		t.Errorf("%+v", f)
	}
	f.Dead("jobs", Dead{N: 1})
	f.Dead("jobs", Dead{1000, true})
	f.Dead("jobs", Dead{More: true})
	if len(f) != 3 || f[2].Level != OK || f.Worst() != Warning || f[0].Message != "jobs: 1 dead task" ||
		f[1].Message != "jobs: at least 1000 dead tasks" {
		t.Errorf("%+v", f)
	}
}
