package connect

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

// dialer bounds the first connection: each server has its share of the time for the dial and the handshake together. Later
// dials, those of reconnects, have the connection's own limits. It keeps why a dial has failed: the client does not.
type dialer struct {
	each      time.Duration
	until     time.Time
	connected atomic.Bool

	mu     sync.Mutex
	failed error // the last dial's
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

// bounded is a connection whose handshake ends when its server's share of the time does.
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

// explain says what stands in the way, and what to do about it. The texts of timeouts name sockets, which help nobody.
func (d *dialer) explain(err error, within time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, nats.ErrNoServers) && d.failed != nil {
		err = d.failed
	}
	const elsewhere = "or say where one is (--server, NATS_URL)"
	unknown, timed := (*net.DNSError)(nil), net.Error(nil)
	late := errors.Is(err, nats.ErrTimeout) || errors.As(err, &timed) && timed.Timeout()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("connection refused: nothing listens there; start a server (rolectl dev), %s", elsewhere)
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("no host is called %s: see that the name is right, %s", unknown.Name, elsewhere)
	case late && d.failed != nil:
		return fmt.Errorf("cannot be reached within %v (--timeout): see that the address is right and no firewall is in between, %s", within, elsewhere)
	case late:
		return fmt.Errorf("something listens there and said nothing within %v (--timeout): is it a NATS server? Give it more time, %s", within, elsewhere)
	}
	return err
}
