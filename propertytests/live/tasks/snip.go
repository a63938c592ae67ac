package tasks

import (
	"net"
	"strings"
	"sync"
	"syscall"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Moment says at which side of a write a process is lost.
type Moment uint8

const (
	Before  Moment = iota // the write is not sent
	After                 // the server has it, and its acknowledgement never comes back
	Delayed               // it and all that follows is held on the way, until somebody lets it go
)

func (m Moment) String() string { return [...]string{"before", "after", "delayed"}[m] }

// Snip is a path that breaks at the n-th write to the stream: what stands in front of a link.
type Snip struct {
	Moment Moment
	At     int  // 1 is the first, 0 never
	Inside bool // only what a batch has before its last message counts: the batch is begun then, and not committed

	prefix string
	link   *natsrun.Link
	mu     sync.Mutex
	writes []string // subjects
	fired  bool
}

// NewSnip returns the path for a namespace; Path puts it in front of a process's link.
func NewSnip(namespace string, m Moment, at int) *Snip {
	return &Snip{Moment: m, At: at, prefix: "$KV.TASKS_" + namespace + "."}
}

// Path is for Plan.
func (s *Snip) Path(l *natsrun.Link) nats.CustomDialer {
	s.link = l
	return s
}

// Dial opens a connection. It is refused once a process that is not to come back has been cut off.
func (s *Snip) Dial(network, address string) (net.Conn, error) {
	s.mu.Lock()
	over := s.fired && s.Moment != Delayed
	s.mu.Unlock()
	if over {
		return nil, syscall.ECONNREFUSED
	}
	c, err := s.link.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &snipped{Conn: c, s: s}, nil
}

// Fired tells at which write the path has broken; writes are all that were seen, that one included.
func (s *Snip) Fired() (at string, fired bool, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fired {
		at = s.writes[s.At-1]
	}
	return at, s.fired, len(s.writes)
}

// Subjects are those that were written to.
func (s *Snip) Subjects() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.writes...)
}

// pass decides on a message to a subject, inside a batch or not: whether it continues its way.
func (s *Snip) pass(subject string, inside bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fired {
		return s.Moment == Delayed
	}
	if !s.stored(subject) || s.Inside && !inside {
		return true
	}
	if s.writes = append(s.writes, subject); len(s.writes) != s.At {
		return true
	}
	s.fired = true
	switch s.Moment {
	case Before:
		s.link.Cut()
		return false
	case After:
		s.link.CutOneWay(natsrun.ToClient)
	case Delayed:
		s.link.Hold(natsrun.ToServer)
	}
	return true
}

func (s *Snip) stored(subject string) bool {
	key, own := strings.CutPrefix(subject, s.prefix)
	family, _, _ := strings.Cut(key, ".")
	return own && (len(family) == 1 || key == "seal")
}

// snipped is one connection. It passes whole commands on, in order.
type snipped struct {
	net.Conn
	s    *Snip
	rest []byte // of a command whose end has not come yet
}

func (c *snipped) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		n, subject, part := natsrun.Command(c.rest)
		if n == 0 {
			return len(p), nil
		}
		if c.s.pass(subject, part == natsrun.Inside) {
			if _, err := c.Conn.Write(c.rest[:n]); err != nil {
				return 0, err
			}
		}
		c.rest = append(c.rest[:0], c.rest[n:]...)
	}
}
