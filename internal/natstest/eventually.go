package natstest

import (
	"testing"
	"time"
)

// poll is the time between two checks of Eventually, at most; in a bubble it is virtual.
const poll = 5 * time.Millisecond

// Eventually checks cond until it holds. If cond has not held within the time, Eventually ends the
// test with a message of what it waited for and what cond saw last. In a bubble the time is
// virtual, and cond is asked when everything has settled, so the test never sees a moment that is
// half over. It is for the test's own goroutine.
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
