package main

import "time"

const (
	// target is how long the default run takes from the first submission to the last outcome.
	target = 10 * time.Second
	// longestTask is how long a task takes at most then: what is lost in a crash is run again.
	longestTask = 2 * time.Second
)

// pace is how fast the tasks read.
type pace struct {
	rate   float64 // bytes per second; 0: as fast as it goes
	longer bool    // also for files that take longer than longestTask
}

// defaultPace is the pace at which all files take about target together. Where a few large files are all that there is to
// read it is not so slow for the others that nothing would be left to run when the faults come: the large are read faster.
//
// The cluster loses the worker, then an instance, is without a scheduler for about ttl, and loses another instance. So each
// part is hashed by fewer.
func defaultPace(files []file, instances int, ttl time.Duration) pace {
	alone := 0.0 // the time that all of them take, as a part of what one instance alone would
	for lost, sixths := range []float64{killWhen, vanishWhen - killWhen, stopWhen - vanishWhen, 6 - stopWhen} {
		alone += sixths / 6 / float64(max(instances+1-lost, 1))
	}
	budget := max(target-ttl, target/2).Seconds() * slots / alone
	low, high := 0.0, 0.0 // at the sum of all sizes they take a second
	for _, f := range files {
		high += float64(f.size)
	}
	for range 60 { // what the files take falls as the rate rises: halve the interval
		rate := (low + high) / 2
		taken := 0.0
		for _, f := range files {
			taken += pace{rate: rate}.duration(f.size).Seconds()
		}
		if taken > budget {
			low = rate
		} else {
			high = rate
		}
	}
	return pace{rate: high}
}

// duration is how long a file of that size takes.
func (p pace) duration(size int64) time.Duration {
	if p.rate == 0 {
		return 0
	}
	seconds := float64(size) / p.rate
	if !p.longer {
		seconds = min(seconds, longestTask.Seconds())
	}
	return time.Duration(seconds * float64(time.Second))
}

// of is the rate for a file of that size.
func (p pace) of(size int64) float64 {
	if d := p.duration(size).Seconds(); d > 0 {
		return float64(size) / d
	}
	return p.rate
}

// largest is the size of the largest file.
func largest(files []file) (size int64) {
	for _, f := range files {
		size = max(size, f.size)
	}
	return size
}
