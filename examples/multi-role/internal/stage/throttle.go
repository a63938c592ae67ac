package stage

import "time"

const (
	// target is how long the default run takes from the first submission to the last outcome.
	target = 10 * time.Second
	// longestTask is how long a task of that run takes at most, since a crash repeats what it has
	// lost.
	longestTask = 2 * time.Second
)

// throttle sets how fast the tasks read.
type throttle struct {
	rate   float64 // bytes per second, 0 for no limit
	longer bool    // also for files that take longer than longestTask
}

// defaultThrottle makes the tasks of all files take about target together. The largest files are
// read faster than the others, so that enough is left to run when the faults come.
//
// The cluster loses the worker, then an instance, has no scheduler for about ttl, and loses another
// instance. So fewer members hash each part than the part before.
func defaultThrottle(files []walked, instances int, ttl time.Duration) throttle {
	alone := 0.0 // the time that all members take, as a part of what one instance would
	for lost, sixths := range []float64{killWhen, vanishWhen - killWhen, stopWhen - vanishWhen, 6 - stopWhen} {
		alone += sixths / 6 / float64(max(instances+1-lost, 1))
	}
	budget := max(target-ttl, target/2).Seconds() * slots / alone
	low, high := 0.0, 0.0 // at the sum of all sizes the files take a second
	for _, f := range files {
		high += float64(f.Size)
	}
	for range 60 { // a higher rate takes less time: halve the interval
		rate := (low + high) / 2
		taken := 0.0
		for _, f := range files {
			taken += throttle{rate: rate}.duration(f.Size).Seconds()
		}
		if taken > budget {
			low = rate
		} else {
			high = rate
		}
	}
	return throttle{rate: high}
}

// duration is how long a file of that size takes.
func (t throttle) duration(size int64) time.Duration {
	if t.rate == 0 {
		return 0
	}
	seconds := float64(size) / t.rate
	if !t.longer {
		seconds = min(seconds, longestTask.Seconds())
	}
	return time.Duration(seconds * float64(time.Second))
}

// of is the rate for a file of that size.
func (t throttle) of(size int64) float64 {
	if d := t.duration(size).Seconds(); d > 0 {
		return float64(size) / d
	}
	return t.rate
}

// largest is the size of the largest file.
func largest(files []walked) (size int64) {
	for _, f := range files {
		size = max(size, f.Size)
	}
	return size
}
