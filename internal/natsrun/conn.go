package natsrun

import (
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// conn is the client's end of one connection through a Link, together with the goroutines that
// carry its bytes: pump from the client to the upstream, and drain from the upstream to the client.
//
// It has up to three parts that end separately: the client (Close), pump and drain. A connection
// whose client has gone lives on while the path keeps the server from noticing, as with TCP.
type conn struct {
	link     *Link
	upstream net.Conn // nil: dialed into a cut path, leads nowhere
	toServer *stream
	toClient *stream
	readBy   deadline
	writeBy  deadline

	greeting handshake // read by the client's reader only
	greeted  bool      // guarded by link.mu: faults apply. True at once, except in virtual time

	over   atomic.Pointer[net.OpError] // why the client's end is closed or reset
	closed atomic.Bool                 // the client has closed its end
	parts  atomic.Int32                // parts that have not ended
}

func newConn(l *Link, upstream net.Conn) *conn {
	c := &conn{
		link: l, upstream: upstream, toServer: newStream(l.virtual), toClient: newStream(l.virtual),
		greeted: !l.virtual,
	}
	c.parts.Store(3)
	if upstream == nil {
		c.parts.Store(1)
		c.toServer.abandon(net.ErrClosed)
	}
	return c
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.toClient.take(p, c.readBy.done())
	if n > 0 && c.link.virtual && c.greeting.read(p[:n]) {
		c.link.greet(c)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if over := c.over.Load(); over != nil {
		return 0, over
	}
	n, err := c.toServer.put(p, c.writeBy.done())
	if err == errWindow {
		c.reset()
	}
	return n, err
}

// Close ends the client's end. The server learns of it through the path, after the bytes under way.
func (c *conn) Close() error {
	closed := &net.OpError{Op: "close", Net: "link", Err: net.ErrClosed}
	c.over.CompareAndSwap(nil, closed)
	c.toClient.abandon(closed)
	if !c.closed.Swap(true) {
		c.toServer.finish()
		c.partEnded()
	}
	return nil
}

// reset breaks the connection for both ends at once, whatever the path does, and reports whether
// the client still had it open. It takes no lock except those of the streams.
func (c *conn) reset() bool {
	broken := &net.OpError{Op: "reset", Net: "link", Err: syscall.ECONNRESET}
	open := c.over.CompareAndSwap(nil, broken)
	c.toClient.abandon(broken)
	c.toServer.abandon(broken)
	if c.upstream != nil {
		c.upstream.Close()
	}
	return open
}

// pump carries bytes to the server until the client's end of stream, a reset, or the server's
// death.
func (c *conn) pump() {
	defer c.partEnded()
	buf := make([]byte, grain)
	for {
		n, err := c.toServer.take(buf, nil)
		if err != nil {
			c.upstream.Close()
			return
		}
		if _, err := c.upstream.Write(buf[:n]); err != nil {
			// The upstream stays open, because the server's last bytes are still to be drained.
			c.toServer.abandon(err)
			return
		}
	}
}

// drain takes the server's bytes until the server closes. It never waits for the client in virtual
// time.
func (c *conn) drain() {
	defer c.partEnded()
	buf := make([]byte, grain)
	for {
		n, err := c.upstream.Read(buf)
		if n > 0 {
			if _, err := c.toClient.put(buf[:n], nil); err != nil {
				c.reset()
			}
		}
		if err != nil {
			c.toClient.finish()
			c.toServer.abandon(err)
			c.upstream.Close()
			return
		}
	}
}

// partEnded forgets the connection when its last part has ended.
func (c *conn) partEnded() {
	if c.parts.Add(-1) == 0 {
		c.link.forget(c)
	}
}

func (c *conn) SetDeadline(t time.Time) error {
	c.readBy.set(t)
	c.writeBy.set(t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error  { c.readBy.set(t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { c.writeBy.set(t); return nil }

func (c *conn) LocalAddr() net.Addr {
	if c.upstream == nil {
		return linkAddr{}
	}
	return c.upstream.LocalAddr()
}

func (c *conn) RemoteAddr() net.Addr {
	if c.upstream == nil {
		return linkAddr{}
	}
	return c.upstream.RemoteAddr()
}

// linkAddr is the address of a connection that leads nowhere.
type linkAddr struct{}

func (linkAddr) Network() string { return "link" }
func (linkAddr) String() string  { return "link" }
