package natstest

import (
	"testing"
	"time"
)

// poll is the time between the first checks of Eventually; in a bubble it is virtual.
const poll = 5 * time.Millisecond

// A check that takes long, since it starts a program, is followed by a pause of so many times as
// long, up to a limit. Checks would otherwise keep a processor busy that other tests need.
const (
	costly = 4
	calm   = 250 * time.Millisecond
)

// Pause is the time until the next check of what a test has waited for so long, and waits for
// within at most. It is a two-hundredth of what was waited, at least a few milliseconds, and not
// beyond the end. A bubble of many hours would otherwise spend most of its work on checks.
func Pause(waited, within time.Duration) time.Duration {
	return max(poll, min(waited/200, within-waited))
}

// Eventually checks cond until it holds. If cond has not held within the time, Eventually ends the
// test with a message of what it waited for and what cond saw last. In a bubble the time is
// virtual, and cond is asked when everything has settled, so the test never sees a moment that is
// half over. It is for the test's own goroutine.
func Eventually(tb testing.TB, what string, within time.Duration, cond func() (ok bool, seen string)) {
	tb.Helper()
	start := time.Now()
	for {
		Settle(tb)
		asked := time.Now()
		ok, seen := cond()
		if ok {
			return
		}
		waited, took := time.Since(start), time.Since(asked)
		if waited >= within {
			tb.Fatalf("not within %v: %s; seen last (after %v): %s", within, what, waited.Round(time.Millisecond), seen)
		}
		time.Sleep(max(Pause(waited, within), min(costly*took, calm, within-waited)))
	}
}
