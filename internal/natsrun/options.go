package natsrun

import (
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options configure a Server. The zero value is a server in process with JetStream and a store of
// its own.
type Options struct {
	// StoreDir keeps JetStream's files. Empty: a temporary directory, which Shutdown removes and
	// Restart keeps. Each stream's own setting decides whether it is in memory or in files.
	StoreDir string
	// Listen opens a TCP port on loopback. Without it, the server is reached only in process.
	Listen bool
	// Port to listen on; 0 takes a free one. Restart keeps it.
	Port int
	// Name of the server; empty lets the server choose.
	Name string
	// SyncAlways makes every write to a file stream durable before it is acknowledged.
	SyncAlways bool
	// VirtualTime means that the server and its clients live in a testing/synctest bubble, where
	// links behave as the package promises. It excludes Listen, because a goroutine that waits for
	// a socket does not count as idle in a bubble.
	VirtualTime bool
	// Configure may change all of the server's options, at each start.
	Configure func(*server.Options)
}

// neverSynced is how often a server in a bubble syncs its files. No power fails there, a stop
// writes everything, and every sync of an hour of virtual time would be waited for in real time.
const neverSynced = 365 * 24 * time.Hour

// serverOptions are the options of the next start: port 0 has become the port of the first start.
func (o Options) serverOptions(storeDir string, port int) *server.Options {
	so := &server.Options{
		ServerName: o.Name,
		Host:       "127.0.0.1",
		Port:       port,
		DontListen: !o.Listen,
		NoSigs:     true,
		NoLog:      true,
		JetStream:  true,
		StoreDir:   storeDir,
		SyncAlways: o.SyncAlways,
	}
	if o.VirtualTime {
		so.SyncInterval = neverSynced
	}
	if o.Configure != nil {
		o.Configure(so)
	}
	return so
}
