package assign

import (
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/mailbox"
)

// courier sends messages in order from a goroutine of its own: a call on the connection hangs while the peer's TCP is
// frozen, or while a name is looked up to connect again, and its owner's loop must not hang with it. It also knows how large a
// message may be, which the connection tells under the same lock.
//
// What waits in it is bounded by its owner: frames that have no answer are not followed by others, and outcomes that are
// announced were in flight before, but for the last ones of the term before.
type courier struct {
	nc  *nats.Conn
	box *mailbox.Mailbox[*nats.Msg]
	max atomic.Int64 // max_payload of the server, as it was when the connection was asked last
}

// newCourier starts a courier that wg joins; it ends after stop.
func newCourier(nc *nats.Conn, wg *sync.WaitGroup) *courier {
	c := &courier{nc: nc, box: mailbox.New[*nats.Msg]()}
	c.max.Store(nc.MaxPayload())
	wg.Go(c.run)
	return c
}

func (c *courier) send(subject, reply string, data []byte) {
	c.box.Put(&nats.Msg{Subject: subject, Reply: reply, Data: data})
}

// maxPayload is how many bytes a message may have. After a change of servers it may be out of date for one message, which is then
// not sent, as if it was lost. Who finds a message too large has it looked up again: that one comes again.
func (c *courier) maxPayload() int { return int(c.max.Load()) }

// look has it asked for once more, as is done after all that is sent.
func (c *courier) look() { c.box.Put(nil) }

// stop ends the courier when what waits has been sent.
func (c *courier) stop() { c.box.Close() }

func (c *courier) run() {
	var batch []*nats.Msg
	for {
		<-c.box.Ready()
		last := c.box.Closed() // read before the drain: nothing can be put after it
		batch = c.box.Drain(batch)
		for _, m := range batch {
			if m != nil {
				_ = c.nc.PublishMsg(m) // who gets no answer asks again
			}
		}
		c.max.Store(c.nc.MaxPayload())
		if last {
			return
		}
	}
}
