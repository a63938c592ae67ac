package storm

import (
	"time"

	"github.com/nats-io/nats.go"
)

// Patient are the options of a connection that comes back from everything, and soon for that TTL.
func Patient(name string, ttl time.Duration) []nats.Option {
	return []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(ttl / 50), nats.ReconnectJitter(ttl/100, 0),
		nats.PingInterval(ttl / 4), nats.MaxPingsOutstanding(2), nats.Timeout(time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
}

// Unbroken are the options of a connection that is as patient, on a path without faults to a server
// in this process. It ends when the server does, so pings would notice nothing. In virtual time a
// ping costs as much as a heartbeat, and hours have thousands.
func Unbroken(name string, ttl time.Duration) []nats.Option {
	return append(Patient(name, ttl), nats.PingInterval(time.Minute))
}
