package natsrun

import (
	"fmt"
	"net"
	"syscall"
)

// Dial opens a connection along the link. It makes a Link a nats.CustomDialer.
//
// Errors: ECONNREFUSED while the link refuses, net.ErrClosed after Close, and otherwise the
// target's.
func (l *Link) Dial(network, address string) (net.Conn, error) {
	cut, err := l.admit()
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "link", Err: err}
	}
	var upstream net.Conn
	if !cut {
		if upstream, err = l.target.Dial(network, address); err != nil {
			return nil, fmt.Errorf("dial through link: %w", err)
		}
	}
	c := newConn(l, upstream)
	if err := l.register(c); err != nil {
		c.reset()
		return nil, &net.OpError{Op: "dial", Net: "link", Err: err}
	}
	return c, nil
}

// admit decides on a dial: whether it may go ahead, and whether it goes into a cut path.
func (l *Link) admit() (cut bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(); err != nil {
		return false, err
	}
	return l.cut(), nil
}

// register adds a dialed connection and starts its goroutines. The path may have changed since the
// dial began.
func (l *Link) register(c *conn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(); err != nil {
		return err
	}
	l.stats.Dials++
	l.conns[c] = struct{}{}
	l.impose(c) // resets a connection that leads nowhere if the path has healed since
	if c.upstream != nil {
		l.pumps.Go(c.pump)
		l.pumps.Go(c.drain)
	}
	return nil
}

// refusal is why a dial fails at present, or nil. l.mu is held. Every refusal is counted.
func (l *Link) refusal() error {
	switch {
	case l.closed:
		l.stats.Refused++
		return net.ErrClosed
	case l.refuse, l.virtual && l.stops():
		l.stats.Refused++
		return syscall.ECONNREFUSED
	}
	return nil
}
