package natsrun

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Proxy is a Link behind a TCP address on loopback: the same faults for routes between servers and
// for clients in other processes. ToServer is the direction from the dialing side to the proxy's
// target.
//
// A listener cannot refuse a dial. With Refuse, or while the target is down, the connection is
// closed as soon as it is made.
type Proxy struct {
	*Link
	listener net.Listener
	target   atomic.Pointer[string]
	copies   sync.WaitGroup // the accept loop and the two copies of each connection
}

// NewProxy listens on a free port of loopback and leads to target ("host:port"). Close ends it.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("natsrun: listen for proxy: %w", err)
	}
	p := &Proxy{listener: l}
	p.Link = NewLink(proxyDialer{p})
	p.Retarget(target)
	p.copies.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens, "127.0.0.1:port".
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Retarget makes new connections lead to target. If target is empty, no server is there.
func (p *Proxy) Retarget(target string) { p.target.Store(&target) }

// Close stops listening, breaks all connections and returns when every goroutine of the proxy has
// ended.
func (p *Proxy) Close() {
	p.listener.Close()
	p.Link.Close()
	p.copies.Wait()
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := p.Dial("tcp", "")
		if err != nil {
			abort(near)
			continue
		}
		p.copies.Go(func() { carry(far, near) })
		p.copies.Go(func() { carry(near, far) })
	}
}

// carry copies until one end is over, then ends the other. It passes a reset on as a reset.
func carry(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		abort(to)
		abort(from)
		return
	}
	to.Close()
}

// abort closes a TCP connection with a reset instead of a clean end; it only closes other
// connections.
func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

// proxyDialer dials the present target, whatever the address.
type proxyDialer struct{ p *Proxy }

func (d proxyDialer) Dial(network, _ string) (net.Conn, error) {
	target := *d.p.target.Load()
	if target == "" {
		return nil, ErrDown
	}
	return net.DialTimeout(network, target, readyWithin)
}
