package natstest

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// TestInMemory: temporary files are in memory where there is room, unless somebody has said where
// they go, or benchmarks run, which measure a disk.
func TestInMemory(t *testing.T) {
	bench := flag.Lookup("test.bench").Value
	said := bench.String()
	t.Cleanup(func() { _ = bench.Set(said) })
	for _, c := range []struct{ place, bench, want string }{
		{"", "", memory}, {"/elsewhere", "", "/elsewhere"}, {"", ".", ""},
	} {
		t.Setenv("TMPDIR", c.place)
		if err := bench.Set(c.bench); err != nil {
			t.Fatal(err)
		}
		inMemory()
		got := os.Getenv("TMPDIR")
		if c.want == memory && got == "" {
			t.Skip("no memory of this system is there for files, or too little")
		}
		if got != c.want || !strings.HasPrefix(os.TempDir(), c.want) {
			t.Errorf("TMPDIR=%q and -bench=%q: %q, want %q", c.place, c.bench, got, c.want)
		}
	}
}
