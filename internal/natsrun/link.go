package natsrun

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Direction is a way along a path, seen from the server. Directions can be or'ed.
type Direction uint8

// The two directions of a path.
const (
	ToServer Direction = 1 << iota
	ToClient
	Both = ToServer | ToClient
)

// Link is one client's network path to its server, with faults that can be injected while it runs.
// All connections that are dialed through a Link share its faults. Its methods may be called at any
// time from any goroutine.
//
// New dials depend on the fault. With Refuse they are refused at once. Under Cut and CutOneWay they
// are black-holed, so that the client's own handshake timeout ends them (nats.Timeout). Under Hold
// and Delay they are as slow as the bytes. In virtual time (Options.VirtualTime) a link that is cut
// or holds refuses dials at once, and a delay begins after the handshake.
type Link struct {
	target  nats.CustomDialer
	virtual bool
	pumps   sync.WaitGroup // the goroutines of all connections

	mu       sync.Mutex
	toServer fault
	toClient fault
	severed  bool // set by a cluster that keeps two of its servers apart: adds to the faults, and outlasts Heal
	refuse   bool
	closed   bool
	conns    map[*conn]struct{}
	stats    LinkStats // without those of live connections
}

// LinkStats counts what happened on a link since it was made.
type LinkStats struct {
	Dials   int   // connections made, including those into a cut path
	Refused int   // dials refused
	Resets  int   // connections broken by Reset, Heal or Close
	Open    int   // connections that have not ended on both sides
	Waiting int   // bytes that Hold or Delay keeps at present
	Dropped int64 // bytes lost by Cut and CutOneWay
}

// NewLink returns a path without faults to the connections that target dials. target is a *Server,
// or a *net.Dialer to go to the address that the client asks for (which lets one link lead to all
// servers of a cluster). Close the link when it is no longer used; the server's Shutdown closes a
// link made by Server.Link.
func NewLink(target nats.CustomDialer) *Link {
	return &Link{target: target, conns: make(map[*conn]struct{})}
}

// Options are the options that route a connection through the link. They replace any dialer set
// before.
func (l *Link) Options() []nats.Option {
	return []nats.Option{nats.SetCustomDialer(l)}
}

// Cut turns the path into a black hole. Every byte in both directions, including the bytes under
// way, is dropped silently, and the connections stay open at both ends. Each end finds out only by
// its own pings or timeouts. For an outage that a connection survives, as TCP survives it by
// retransmission, use Hold.
func (l *Link) Cut() { l.CutOneWay(Both) }

// CutOneWay is Cut in one direction: the other end is still heard.
func (l *Link) CutOneWay(dir Direction) {
	l.change(dir, func(f *fault) { f.drop = true })
}

// Hold keeps every byte in the direction, and the end of the stream, until Release or Heal delivers
// them in order. Hold ToServer delays writes, and Hold ToClient delays replies and
// acknowledgements.
func (l *Link) Hold(dir Direction) {
	l.change(dir, func(f *fault) { f.hold = true })
}

// Release ends every Hold and delivers the held bytes.
func (l *Link) Release() {
	l.change(Both, func(f *fault) { f.hold = false })
}

// Delay lets every byte sent from now on arrive later by d, in each direction (a round trip takes
// 2d more). The order stays: a shorter delay does not overtake. 0 ends it.
func (l *Link) Delay(d time.Duration) { l.DelayDir(Both, d) }

// DelayDir is Delay in one direction.
func (l *Link) DelayDir(dir Direction, d time.Duration) {
	l.change(dir, func(f *fault) { f.delay = d })
}

// Reset breaks all connections now, at both ends. New dials are not affected.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		l.reset(c)
	}
}

// Refuse makes dials fail at once (ECONNREFUSED), or ends that. Open connections continue.
func (l *Link) Refuse(refuse bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse = refuse
}

// Heal ends all faults. Held and delayed bytes are delivered. Connections that were cut are reset,
// because lost bytes cannot come back into a stream.
func (l *Link) Heal() {
	l.Refuse(false)
	l.change(Both, func(f *fault) { *f = fault{} })
}

// sever cuts the path in addition to its faults, or ends that and leaves the faults.
func (l *Link) sever(severed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.severed == severed {
		return
	}
	l.severed = severed
	for c := range l.conns {
		l.impose(c)
	}
}

// Close breaks all connections, refuses new ones, and returns when every goroutine of the link has
// ended.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	for c := range l.conns {
		l.reset(c)
	}
	l.mu.Unlock()
	l.pumps.Wait()
}

// Stats returns the counts until now.
func (l *Link) Stats() LinkStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.stats
	st.Open = len(l.conns)
	for c := range l.conns {
		for _, s := range []*stream{c.toServer, c.toClient} {
			waiting, dropped := s.traffic()
			st.Waiting += waiting
			st.Dropped += dropped
		}
	}
	return st
}

// change edits the faults of dir and imposes them on all connections.
func (l *Link) change(dir Direction, edit func(*fault)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if dir&ToServer != 0 {
		edit(&l.toServer)
	}
	if dir&ToClient != 0 {
		edit(&l.toClient)
	}
	for c := range l.conns {
		l.impose(c)
	}
}

// impose puts the present faults on c. l.mu is held.
func (l *Link) impose(c *conn) {
	if !c.greeted {
		return // greet does it: a handshake must not wait for virtual time
	}
	toServer, toClient := l.toServer, l.toClient
	toServer.drop = toServer.drop || l.severed
	toClient.drop = toClient.drop || l.severed
	c.toServer.impose(toServer)
	c.toClient.impose(toClient)
	if c.upstream == nil && !l.cut() || c.toServer.torn() || c.toClient.torn() {
		l.reset(c)
	}
}

// cut reports whether the path loses bytes, in either direction. l.mu is held.
func (l *Link) cut() bool { return l.severed || l.toServer.drop || l.toClient.drop }

// stops reports whether the path keeps bytes from arriving, in either direction. l.mu is held.
func (l *Link) stops() bool {
	return l.cut() || l.toServer.hold || l.toClient.hold
}

// reset breaks c. l.mu is held.
func (l *Link) reset(c *conn) {
	if c.reset() {
		l.stats.Resets++
	}
}

// greet puts the faults on a connection that has gone through its handshake.
func (l *Link) greet(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !c.greeted {
		c.greeted = true
		l.impose(c)
	}
}

// forget drops a connection that has ended on both sides.
func (l *Link) forget(c *conn) {
	_, up := c.toServer.traffic()
	_, down := c.toClient.traffic()
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.conns[c]; ok {
		delete(l.conns, c)
		l.stats.Dropped += up + down
	}
}
