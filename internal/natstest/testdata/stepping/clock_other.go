//go:build !(linux && amd64)

package main

import "time"

// stepWallClock compiles only with the overlay of natstest.SteppingServer, which gives package time
// the function that it calls.
func stepWallClock(d time.Duration) { time.StepWallClock(d) }
