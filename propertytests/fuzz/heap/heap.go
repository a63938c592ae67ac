package heap

import (
	"runtime/metrics"
	"testing"
)

// Bounded fails the test if do, which reads n bytes, takes more memory than a multiple of that and what the measure is off by.
// Whatever else runs is counted too, so what seems to be too much is measured again: do is to be the same each time.
func Bounded(t testing.TB, n int, do func()) {
	t.Helper()
	most, took := 256<<10+128*uint64(n), uint64(0)
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for range 10 {
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		do()
		metrics.Read(sample)
		if took = sample[0].Value.Uint64() - before; took <= most {
			return
		}
	}
	t.Errorf("to read %d bytes took %d, more than %d", n, took, most)
}
