package gather

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// price is how long a batch takes: a fixed time, which is measured, and a little for each write.
//
// The fixed time holds what others had in flight when the batch was sent, and they may have turned
// to batches since. So it is forgotten soon, and a low one of the last batches counts. After
// batches that were too dear it is kept for longer each time.
type price struct {
	fixed  samples
	at     record.Instant // when the last one was measured, 0: never
	memory time.Duration  // for how long it is known, at least costMemory
}

const (
	eachTogether = 10 * time.Microsecond
	// It is assumed when it is not known: twice the time that a file store took on an idle machine.
	assumed    = 5 * time.Millisecond
	slow       = 250 * time.Millisecond // a batch that makes those before it count no longer
	costMemory = 2 * time.Second
	longMemory = 16 * time.Second
)

func (c *price) known(now record.Instant) bool {
	return c.at != 0 && now < c.at.Add(max(c.memory, costMemory))
}

func (c *price) of(now record.Instant, n int) time.Duration {
	fixed := assumed
	if c.known(now) {
		fixed = c.fixed.low
	}
	return fixed + eachTogether*time.Duration(n)
}

func (c *price) took(now record.Instant, n int, took time.Duration) {
	if !c.known(now) || took > slow {
		c.fixed = samples{}
	}
	if now >= c.at.Add(2*longMemory) {
		c.memory = 0
	}
	c.fixed.add(max(took-eachTogether*time.Duration(n), 0))
	c.at = now
}

// pays notes that batches pay, by what is known.
func (c *price) pays(now record.Instant) {
	if c.known(now) {
		c.memory = costMemory
	}
}

// dear notes that batches were too dear.
func (c *price) dear() { c.memory = min(2*max(c.memory, costMemory/2), longMemory) }
