package heap

import "testing"

// complaints is a test that is told of errors and goes on.
type complaints struct {
	testing.TB
	n int
}

func (c *complaints) Helper()               {}
func (c *complaints) Errorf(string, ...any) { c.n++ }

var kept [][]byte

// TestBounded: what takes memory in proportion passes, and what takes a multiple does not, however often it is measured.
func TestBounded(t *testing.T) {
	for _, c := range []struct{ read, take, want int }{{1000, 1000, 0}, {100_000, 1 << 20, 0}, {1000, 1 << 20, 1}, {0, 1 << 20, 1}} {
		var said complaints
		Bounded(&said, c.read, func() { kept = append(kept[:0], make([]byte, c.take)) })
		if said.n != c.want {
			t.Errorf("%d bytes for %d: %d complaints, want %d", c.take, c.read, said.n, c.want)
		}
	}
}
