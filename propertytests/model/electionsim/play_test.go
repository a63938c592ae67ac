package electionsim

import (
	"runtime"
	"sync"
	"testing"
)

// block is how many schedules are played side by side before the first that failed is looked for.
const block = 64

// play plays a schedule for each of n seeds, and adds up what has happened. Of those that fail the
// one of the lowest seed counts, with as much taken out of its plan as can be missing.
func play(t *testing.T, name string, first uint64, n int, plan func(seed uint64) *Plan) (total Counts) {
	t.Helper()
	for done := 0; done < n; done += block {
		size := min(block, n-done)
		counts, errs := make([]Counts, size), make([]error, size)
		side(size, func(i int) { counts[i], errs[i] = Run(plan(first + uint64(done+i))) })
		for i := range size {
			total.Add(counts[i])
			if errs[i] != nil {
				t.Log(total)
				seed := first + uint64(done+i)
				_, err := Run(fewer(plan(seed)))
				t.Fatalf("%s seed %d, failed after %d tests: %v", name, seed, total.Schedules, err)
			}
		}
	}
	return total
}

// side does n things, as many at once as there are processors.
func side(n int, do func(i int)) {
	var group sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	group.Wait()
}
