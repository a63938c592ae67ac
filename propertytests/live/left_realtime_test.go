//go:build realtime

package live_test

import "go.uber.org/goleak"

// leftByServers are goroutines of nats-server (2.15.2) that one run of ten times five storms has
// left, all servers being shut down: that of a stream's store, and the one that keeps its times.
// That a server which shuts down was just making that store is a guess.
var leftByServers = []goleak.Option{
	goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server.(*fileStore).flushStreamStateLoop"),
	goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"),
}
