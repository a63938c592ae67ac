package heap

import "testing"

// complaints is a test that records errors and continues.
type complaints struct {
	testing.TB
	n int
}

func (c *complaints) Helper()               {}
func (c *complaints) Errorf(string, ...any) { c.n++ }

var kept [][]byte

// TestBounded: a function that takes memory in proportion passes, and one that takes a multiple
// fails, however often it is measured.
func TestBounded(t *testing.T) {
	for _, c := range []struct{ read, take, want int }{
		{1000, 1000, 0},
		{100_000, 1 << 20, 0},
		{1000, 1 << 20, 1},
		{0, 1 << 20, 1},
	} {
		var said complaints
		Bounded(&said, c.read, func() { kept = append(kept[:0], make([]byte, c.take)) })
		if said.n != c.want {
			t.Errorf("%d bytes for %d: %d complaints, want %d", c.take, c.read, said.n, c.want)
		}
	}
}
