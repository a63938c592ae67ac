package tasks

import "testing"

// TestDeclarations: a higher version replaces a lower one, and nothing else does.
func TestDeclarations(t *testing.T) {
	stored := Declaration{Version: 3, Terms: "a"}
	for _, c := range []struct {
		declared Declaration
		stored   *Declaration
		want     Standing
	}{
		{Declaration{0, "a"}, nil, Replaced},
		{Declaration{3, "a"}, &stored, Stays},
		{Declaration{3, "b"}, &stored, Disputed},
		{Declaration{2, "a"}, &stored, Stays},
		{Declaration{2, "b"}, &stored, Stays},
		{Declaration{4, "a"}, &stored, Replaced},
		{Declaration{4, "b"}, &stored, Replaced},
	} {
		if got := c.declared.Beside(c.stored); got != c.want {
			t.Errorf("%+v beside %+v: %d, want %d", c.declared, c.stored, got, c.want)
		}
	}
}
