package dashboard

import "testing"

// draw is a rendering of a list.
func draw(before *fragment, number uint64, rows ...string) *fragment {
	text := "head"
	for _, r := range rows {
		text += string(begin(r[:1])) + "<" + r + ">" + string(end())
	}
	f := split("main", []byte(text+"foot"))
	f.since(before, number)
	return f
}

// TestFragments: only what has changed is sent, and everything when the list itself has changed.
func TestFragments(t *testing.T) {
	one := draw(nil, 1, "a1", "b1")
	if got := string(one.html(nil)); got != "head<a1><b1>foot" {
		t.Error(got)
	}
	two := draw(one, 2, "a1", "b2")
	three := draw(two, 3, "a3", "b2")
	four := draw(three, 4, "a3", "b2", "c4")
	for _, c := range []struct {
		f     *fragment
		after uint64
		want  []swap
	}{
		{one, 0, []swap{{"main", "head<a1><b1>foot"}}},
		{one, 1, nil},
		{two, 1, []swap{{"b", "<b2>"}}},
		{three, 1, []swap{{"a", "<a3>"}, {"b", "<b2>"}}},
		{three, 2, []swap{{"a", "<a3>"}}},
		{four, 3, []swap{{"main", "head<a3><b2><c4>foot"}}},
	} {
		got := c.f.news(c.after, nil)
		if len(got) != len(c.want) {
			t.Errorf("after %d: %v, want %v", c.after, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("after %d: %v, want %v", c.after, got, c.want)
			}
		}
	}
}
