package timings

import (
	"math"
	"math/bits"
	"time"
)

const (
	// first is the upper bound of the first bucket. Each power of two above has steps buckets, so a
	// percentile is right to 7 %.
	first = 128 * time.Microsecond
	steps = 8
	// buckets reach to more than a month.
	buckets = steps*35 + 1
)

// histogram counts times by their length.
type histogram struct {
	in    [buckets]uint32
	count uint32
}

func (h *histogram) add(d time.Duration) {
	if h.count == math.MaxUint32 {
		return // in five minutes: nobody is as fast
	}
	h.in[bucketOf(d)]++
	h.count++
}

func (h *histogram) merge(other *histogram) {
	if h.count > math.MaxUint32-other.count {
		return
	}
	for i, n := range other.in {
		h.in[i] += n
	}
	h.count += other.count
}

// bucketOf is the place of a length. The bucket of a power of two is cut into equal steps.
func bucketOf(d time.Duration) int {
	if d < first {
		return 0
	}
	n := uint64(d / (first / steps)) // at least steps
	exponent := bits.Len64(n) - bits.Len64(steps)
	return min(1+steps*exponent+int(n>>exponent)-steps, buckets-1)
}

// middle is the length in the middle of a bucket.
func middle(bucket int) time.Duration {
	if bucket == 0 {
		return first / 2
	}
	exponent, step := (bucket-1)/steps, (bucket-1)%steps
	unit := (first / steps) << exponent
	return time.Duration(steps+step)*unit + unit/2
}

// percentile is a length that so many percent of the times do not exceed, about. The histogram is
// not empty.
func (h *histogram) percentile(percent uint64) time.Duration {
	rank := max((uint64(h.count)*percent+99)/100, 1)
	seen := uint64(0)
	for i, n := range h.in {
		if seen += uint64(n); seen >= rank {
			return middle(i)
		}
	}
	return middle(buckets - 1)
}
