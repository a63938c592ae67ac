package shortcut

import (
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// Shortcut knows the two sides that are there. Its zero value knows none. A nil one never does.
type Shortcut struct{ scheduler, worker side }

type side = atomic.Pointer[End]

// End is one side, and how it takes messages. Its functions are called in the goroutine of the
// other side. They must not block, nor send.
type End struct {
	// Inbox begins the subjects of the answers that it waits for. No other End has the same.
	Inbox  string
	Answer func(m *nats.Msg)
	// Request takes a frame or a report. It returns false if there is no room for it.
	Request func(m *nats.Msg) bool

	session uint64 // the lease that it belongs to
}

// Wire is how messages go over the connection. It is a *natsconn.Sender.
type Wire interface {
	Send(subject, reply string, data []byte)
	MaxPayload() int
	Refresh()
	Stop()
}

// Sender sends the messages of one side: to the other side if it is there, else over the
// connection.
type Sender struct {
	Wire
	session   uint64
	own, peer *side
}

// Scheduler returns the sender of a scheduler that works under a lease.
func (s *Shortcut) Scheduler(session uint64, wire Wire) *Sender {
	if s == nil {
		s = new(Shortcut)
	}
	return &Sender{wire, session, &s.scheduler, &s.worker}
}

// Worker returns the sender of a worker that works under a lease.
func (s *Shortcut) Worker(session uint64, wire Wire) *Sender {
	if s == nil {
		s = new(Shortcut)
	}
	return &Sender{wire, session, &s.worker, &s.scheduler}
}

// Join makes the side of this sender one that the other side finds, until leave is called. A side
// joins before it sends, so that all answers to it take the same way.
func (s *Sender) Join(e End) (leave func()) {
	e.session = s.session
	own := &e
	s.own.Store(own)
	return func() { s.own.CompareAndSwap(own, nil) }
}

// Send sends a message. An answer to the other side goes there. All else goes over the connection.
// It never blocks.
func (s *Sender) Send(subject, reply string, data []byte) {
	if e := s.peer.Load(); e != nil && strings.HasPrefix(subject, e.Inbox) {
		e.Answer(&nats.Msg{Subject: subject, Reply: reply, Data: data})
		return
	}
	s.Wire.Send(subject, reply, data)
}

// Hand gives the other side of the same lease a frame or a report. The data then belongs to the
// other side. Hand returns false if nobody has taken it. It never blocks.
func (s *Sender) Hand(subject, reply string, data []byte) bool {
	e := s.peer.Load()
	return e != nil && e.session == s.session && e.Request(&nats.Msg{Subject: subject, Reply: reply, Data: data})
}
