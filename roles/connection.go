package roles

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsconn"
)

// minDial is what a dial is given at least, however short the heartbeat: a handshake with TLS over
// a distance takes a while.
const minDial = 250 * time.Millisecond

// minLook and maxLook bound the pace at which watchFirst looks at a connection.
const (
	minLook = 10 * time.Millisecond
	maxLook = time.Second
)

// dial makes the manager's own connection. It does not fail because no server can be reached: it
// then keeps trying, as it does after every loss. Errors: a URL or an option that cannot be used.
func dial(cfg Config, instance string, heartbeat time.Duration, reports *reports, list *servers) (*nats.Conn, error) {
	pause := min(heartbeat, time.Second)
	options := []nats.Option{
		nats.Name("rolemanager " + cfg.Bucket + " " + instance),
		// Answers of this process are nobody else's to read: with an inbox prefix of its own,
		// permissions can say so.
		nats.CustomInboxPrefix("_INBOX_" + instance),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		// Credentials that are renewed late are an outage like any other. Those that are refused
		// before the first connection are another thing, see watchFirst.
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(pause),
		nats.ReconnectJitter(pause/2, pause),
		// A publish while the connection is down fails at once: later it would be too late.
		nats.ReconnectBufSize(-1),
		// A connection that dies silently is noticed after two pings, well within the lease.
		nats.PingInterval(heartbeat),
		nats.MaxPingsOutstanding(2),
		// A blocked socket delays the heartbeats by at most one heartbeat interval.
		nats.FlusherTimeout(heartbeat),
		// While a dial hangs, so does every call on the connection, and with it work whose context
		// has ended.
		nats.Timeout(min(nats.DefaultTimeout, max(heartbeat, minDial))),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { reports.complaint(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { reports.unreached(err) }),
	}
	at := cfg.URL
	if list != nil {
		at = list.urls()
		options = append(options, nats.DontRandomize(), nats.ReconnectToServer(list.next))
	}
	nc, err := nats.Connect(at, append(options, cfg.NATSOptions...)...)
	if err != nil {
		return nil, fmt.Errorf("roles: connect: %w", err)
	}
	if list != nil {
		list.follow(nc)
	}
	if !nc.IsConnected() {
		reports.awaitReason()
	}
	return nc, nil
}

// watchFirst watches a new connection until it is up for the first time, or stop is called. If the
// servers refuse the credentials twice before that, it closes the connection, and stop returns why.
// first is why the attempt failed that dial made, nil if it is unknown.
func watchFirst(nc *nats.Conn, first error) (stop func() error) {
	var refusal error
	pace := min(max(nc.Opts.ReconnectWait, minLook), maxLook)
	ends, joined := make(chan struct{}), make(chan struct{})
	changes := nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	go func() {
		defer close(joined)
		defer nc.RemoveStatusListener(changes)
		tick := time.NewTicker(pace)
		defer tick.Stop()
		refused, counted := natsconn.Refused(first), 0
		for !nc.IsConnected() {
			select {
			case <-ends:
				return
			case <-changes:
				return
			case <-tick.C:
			}
			made := attempts(nc)
			if made == counted {
				continue
			}
			err := nc.LastError()
			if refused && natsconn.Refused(err) && !nc.IsConnected() {
				refusal = err
				nc.Close()
				return
			}
			refused, counted = natsconn.Refused(err), made // another server may know the user
		}
	}()
	return func() error {
		close(ends)
		<-joined
		return refusal
	}
}

// attempts counts the attempts to connect since the last connection, without the one of dial.
func attempts(nc *nats.Conn) (n int) {
	for _, s := range nc.ServerPool() {
		n += s.Reconnects
	}
	return n
}

// connection is the connection in use, nil before Run has made its own.
func (m *Manager) connection() *nats.Conn {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conn
}

// connectionStatus is the connection's own word for how it is.
func (m *Manager) connectionStatus() string {
	if nc := m.connection(); nc != nil {
		return nc.Status().String()
	}
	return nats.DISCONNECTED.String()
}

// connectionTrouble is connectionStatus, with the reason if a server refuses the credentials.
func (m *Manager) connectionTrouble() string {
	status := m.connectionStatus()
	if nc := m.connection(); nc != nil && !nc.IsConnected() && natsconn.Refused(nc.LastError()) {
		status += ", the credentials are refused: " + nc.LastError().Error()
	}
	return status
}
