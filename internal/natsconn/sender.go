package natsconn

import (
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/mailbox"
)

// Sender sends messages in order from a goroutine of its own.
//
// A call on the connection hangs while the peer's TCP is frozen, or while a name is looked up for a
// reconnect. The owner's loop must not hang with it. A Sender also knows how large a message may
// be, which the connection reports under the same lock.
//
// The owner bounds how many messages wait in it.
type Sender struct {
	nc  *nats.Conn
	box *mailbox.Mailbox[*nats.Msg]
	max atomic.Int64 // the server's max_payload when the connection was last asked
}

// NewSender starts a Sender. Its goroutine belongs to wg and ends after [Sender.Stop].
func NewSender(nc *nats.Conn, wg *sync.WaitGroup) *Sender {
	s := &Sender{nc: nc, box: mailbox.New[*nats.Msg]()}
	s.max.Store(nc.MaxPayload())
	wg.Go(s.run)
	return s
}

// Send queues a message. It never blocks, and reports no error, because a sender of requests asks
// again.
func (s *Sender) Send(subject, reply string, data []byte) {
	s.box.Put(&nats.Msg{Subject: subject, Reply: reply, Data: data})
}

// MaxPayload is how many bytes a message may have. After a change of servers it may be out of date
// for one message. That message is not sent, as if it had been lost. A caller that finds a message
// too large calls [Sender.Refresh], because the message comes again.
func (s *Sender) MaxPayload() int { return int(s.max.Load()) }

// Refresh asks the connection for its max_payload again, as also happens after each batch of
// messages.
func (s *Sender) Refresh() { s.box.Put(nil) }

// Stop ends the Sender after it has sent the messages that wait.
func (s *Sender) Stop() { s.box.Close() }

func (s *Sender) run() {
	var batch []*nats.Msg
	for {
		<-s.box.Ready()
		last := s.box.Closed() // read before the drain: nothing can be put after it
		batch = s.box.Drain(batch)
		for _, m := range batch {
			if m != nil {
				_ = s.nc.PublishMsg(m) // a request without an answer is sent again
			}
		}
		s.max.Store(s.nc.MaxPayload())
		if last {
			return
		}
	}
}
