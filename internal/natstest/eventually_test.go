package natstest

import (
	"testing"
	"time"
)

// TestPause: checks come soon after each other at first, seldom later, and one comes at the end.
func TestPause(t *testing.T) {
	for _, c := range []struct{ waited, within, want time.Duration }{
		{0, time.Minute, poll},
		{time.Second, time.Minute, poll},
		{20 * time.Second, time.Minute, 100 * time.Millisecond},
		{time.Minute - 50*time.Millisecond, time.Minute, 50 * time.Millisecond},
		{time.Minute, time.Minute, poll},
	} {
		if got := Pause(c.waited, c.within); got != c.want {
			t.Errorf("after %v of %v: %v, want %v", c.waited, c.within, got, c.want)
		}
	}
}
