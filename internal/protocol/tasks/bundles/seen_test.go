package bundles

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestABundleIsRememberedForAWhile after it was seen, and not before that and not for longer.
func TestABundleIsRememberedForAWhile(t *testing.T) {
	const keep = 30 * time.Second
	start := time.Unix(1000, 0)
	s := NewSeen[string](keep, 100)
	s.Stood("c.a", 1, "first", 10, start)
	s.Stood("c.a", 8, "second", 10, start.Add(time.Second))
	for _, tt := range []struct {
		block string
		from  uint64
		after time.Duration
		want  string
	}{
		{"c.a", 1, 0, "first"},
		{"c.a", 1, keep, "first"},
		{"c.a", 1, keep + 1, ""},
		{"c.a", 8, keep + 1, "second"},
		{"c.a", 8, keep + time.Second + 1, ""},
		{"c.a", 2, 0, ""},
		{"c.b", 1, 0, ""},
	} {
		if got, ok := s.First(tt.block, tt.from, start.Add(tt.after)); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s from %d after %v: %q, %t", tt.block, tt.from, tt.after, got, ok)
		}
	}
	s.Stood("c.a", 1, "again", 10, start.Add(keep))
	if got, _ := s.First("c.a", 1, start.Add(2*keep)); got != "again" {
		t.Errorf("it was seen again: %q", got)
	}
	s.Stood("c.b", 1, "other", 10, start.Add(keep))
	s.Forget("c.a")
	for block, want := range map[string]string{"c.a": "", "c.b": "other"} {
		if got, _ := s.First(block, 1, start.Add(keep)); got != want {
			t.Errorf("c.a is forgotten, %s: %q", block, got)
		}
	}
}

// TestWhatIsRememberedIsBounded: in bytes, and by the time. The bundle that was seen last
// stays, if there is room for it at all.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const keep, most = 10 * time.Second, 100
		s, now := NewSeen[uint64](keep, most), time.Unix(1000, 0)
		last := map[uint64]time.Time{}
		size := map[uint64]int{}
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 5).Draw(t, "seconds")) * time.Second)
			from := uint64(rapid.IntRange(1, 8).Draw(t, "from"))
			bytes := rapid.IntRange(1, most+20).Draw(t, "bytes")
			s.Stood("c.a", from, from, bytes, now)
			last[from], size[from] = now, bytes
			if _, ok := s.First("c.a", from, now); ok != (bytes <= most) {
				t.Fatalf("%d bytes: %t", bytes, ok)
			}
			sum := 0
			for from := range last {
				got, ok := s.First("c.a", from, now)
				if ok && (got != from || now.Sub(last[from]) > keep) {
					t.Fatalf("%d from %d, seen %v ago", got, from, now.Sub(last[from]))
				}
				if _, held := s.at[lookup{"c.a", from}]; held {
					sum += size[from]
				}
			}
			if sum > most || sum != s.bytes {
				t.Fatalf("%d bytes, counted as %d", sum, s.bytes)
			}
		}
	})
}
