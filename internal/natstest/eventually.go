package natstest

import (
	"testing"
	"time"
)

// poll is how often Eventually looks, at most; in a bubble it is virtual.
const poll = 5 * time.Millisecond

// Eventually looks at cond until it holds, and ends the test when it has not held within the time: the message says what
// was waited for and what cond saw last. In a bubble the time is virtual, and cond is asked when everything has settled: what
// the test reads next is not of a moment in which half of it has happened. It is for the test's own goroutine.
func Eventually(tb testing.TB, what string, within time.Duration, cond func() (ok bool, seen string)) {
	tb.Helper()
	start := time.Now()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		Settle(tb)
		ok, seen := cond()
		if ok {
			return
		}
		if waited := time.Since(start); waited >= within {
			tb.Fatalf("not within %v: %s; seen last (after %v): %s", within, what, waited.Round(time.Millisecond), seen)
		}
		<-tick.C
	}
}
