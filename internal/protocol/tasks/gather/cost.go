package gather

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// price is how long a batch takes: a fixed time, which is measured, and a little for each write.
//
// The fixed time holds what others had in flight when the batch was sent, and they may have turned
// to batches since. So it is forgotten soon, and follows fast batches sooner than slow ones.
type price struct {
	fixed time.Duration
	at    record.Instant // when it was measured, 0: never
}

const (
	eachTogether = 10 * time.Microsecond
	// It is assumed when it is not known: twice the time that a file store took on an idle machine.
	assumed    = 5 * time.Millisecond
	costMemory = 2 * time.Second
)

func (c *price) known(now record.Instant) bool { return c.at != 0 && now < c.at.Add(costMemory) }

func (c *price) of(now record.Instant, n int) time.Duration {
	fixed := c.fixed
	if !c.known(now) {
		fixed = assumed
	}
	return fixed + eachTogether*time.Duration(n)
}

func (c *price) took(now record.Instant, n int, took time.Duration) {
	fixed := max(took-eachTogether*time.Duration(n), 0)
	switch {
	case !c.known(now):
		c.fixed = fixed
	case fixed < c.fixed:
		c.fixed -= (c.fixed - fixed) / 2
	default:
		c.fixed += (fixed - c.fixed) / 4
	}
	c.at = now
}
