package natsrun

import (
	"github.com/nats-io/nats-server/v2/server"
)

// Options configure a Server. The zero value is a server in process with JetStream and a store of its own.
type Options struct {
	// StoreDir keeps JetStream's files. Empty: a temporary directory that Shutdown removes; it lasts over Restart.
	// Whether a stream lies in memory or in files is the stream's own setting.
	StoreDir string
	// Listen opens a TCP port on loopback. Else the server is reached in process only.
	Listen bool
	// Port to listen on; 0 takes a free one. Restart keeps it.
	Port int
	// Name of the server; empty lets the server choose.
	Name string
	// SyncAlways makes every write to a file stream durable before it is acknowledged.
	SyncAlways bool
	// VirtualTime says that the server and its clients live in a testing/synctest bubble: links behave as the package's
	// promises say. It excludes Listen, since a socket's wait does not count as idle in a bubble.
	VirtualTime bool
	// Configure has the last word on the server's options, at each start.
	Configure func(*server.Options)
}

// serverOptions are the options of the next start: port 0 has become the port of the first.
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
	if o.Configure != nil {
		o.Configure(so)
	}
	return so
}
