package gather

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// price is how long a batch takes: a fixed time, which is measured, and a little for each write.
//
// The fixed time holds what others had in flight when the batch was sent, and they may have turned
// to batches since. So it is forgotten soon, and the least of the last batches counts. After
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
	batches    = 16 // that count
	costMemory = 2 * time.Second
	longMemory = 16 * time.Second
)

func (c *price) known(now record.Instant) bool {
	return c.at != 0 && now < c.at.Add(max(c.memory, costMemory))
}

// bound is how long n writes one by one may take without a batch.
//
// It is twice the time of a batch, since a batch has more to it than its time: while its writers
// wait for it, they do nothing for the next one. Before that time is known it is less, since a
// batch tells.
func (c *price) bound(now record.Instant, n int) time.Duration {
	each := eachTogether * time.Duration(n)
	if c.known(now) {
		return 2 * (c.fixed.low + each)
	}
	return (assumed + each) * 5 / 4
}

func (c *price) took(now record.Instant, n int, took time.Duration) {
	if !c.known(now) {
		c.fixed = samples{}
	}
	c.fixed.add(max(took-eachTogether*time.Duration(n), 0), batches, 2*batches)
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
