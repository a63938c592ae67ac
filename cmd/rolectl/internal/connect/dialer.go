package connect

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// dialer bounds the first connection: each server has its share of the time for the dial and the
// handshake together. Dials of reconnects have a limit of their own. The dialer keeps the reason of
// a failed dial, because the client does not.
type dialer struct {
	each      time.Duration
	until     time.Time
	connected atomic.Bool

	mu     sync.Mutex
	failed error // of the last dial
}

// reconnectWithin bounds one dial of a reconnect.
const reconnectWithin = 2 * time.Second

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	if d.connected.Load() {
		return net.DialTimeout(network, address, reconnectWithin)
	}
	until := time.Now().Add(d.each)
	if until.After(d.until) {
		until = d.until
	}
	plain := net.Dialer{Deadline: until}
	conn, err := plain.Dial(network, address)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = err
	if err != nil {
		return nil, err
	}
	return &bounded{conn, until}, nil
}

// bounded is a connection whose handshake ends with its server's share of the time.
type bounded struct {
	net.Conn
	until time.Time
}

// SetDeadline sets the time for a handshake, or takes it away (zero).
func (b *bounded) SetDeadline(t time.Time) error {
	if t.After(b.until) {
		t = b.until
	}
	return b.Conn.SetDeadline(t)
}
