package heap

import (
	"runtime/metrics"
	"testing"
)

// Took is about how many bytes do takes from the heap. Other goroutines count too, so a figure
// above most is measured again: do must do the same each time.
func Took(most uint64, do func()) (took uint64) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for range 10 {
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		do()
		metrics.Read(sample)
		if took = sample[0].Value.Uint64() - before; took <= most {
			break
		}
	}
	return took
}

// Bounded fails the test if do, which reads n bytes, takes more memory than a multiple of n plus
// the error of the measurement.
func Bounded(t testing.TB, n int, do func()) {
	t.Helper()
	most := 256<<10 + 128*uint64(n)
	if took := Took(most, do); took > most {
		t.Errorf("to read %d bytes took %d, more than %d", n, took, most)
	}
}
