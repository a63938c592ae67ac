package stage

import (
	"testing"
	"time"
)

func TestDefaultThrottle(t *testing.T) {
	files := make([]walked, 300)
	for i := range files {
		files[i].Size = 5000
	}
	few, many := defaultThrottle(files, 1, 2*time.Second), defaultThrottle(files, 5, 2*time.Second)
	if few.rate <= many.rate || many.rate <= 0 {
		t.Errorf("one instance reads at %v per task, five at %v", few, many)
	}
	// One instance hashes all of it, four tasks at a time, in what is left of the target; with the
	// worker until that is killed.
	const alone = (killWhen/2.0 + (6 - killWhen)) / 6
	if took := alone * 300 * 5000 / (few.rate * slots); took < 7.9 || took > 8.1 {
		t.Errorf("one instance takes %.1f s", took)
	}
	// One file that is larger than all others together takes longestTask, and they take the rest.
	files[0].Size = 1 << 30
	skewed := defaultThrottle(files, 1, 2*time.Second)
	if took := skewed.duration(1 << 30); took != longestTask || float64(1<<30)/skewed.of(1<<30) > 2 {
		t.Errorf("the largest file takes %v, at %v", took, skewed.of(1<<30))
	}
	if took := alone * 299 * 5000 / (skewed.of(5000) * slots); took < 7 || took > 8 {
		t.Errorf("the others take %.1f s", took)
	}
	// A rate of the command line holds for all.
	if fixed := (throttle{rate: 10, longer: true}); fixed.of(5000) != 10 || fixed.duration(5000) != 500*time.Second {
		t.Errorf("at 10 bytes per second: %v for %v", fixed.of(5000), fixed.duration(5000))
	}
	if none := defaultThrottle(make([]walked, 3), 3, time.Second); none.of(0) != 0 || none.duration(0) != 0 {
		t.Errorf("empty files are read at %v", none)
	}
}
