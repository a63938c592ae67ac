package natsrun

import (
	"strings"

	"github.com/nats-io/nats.go"
)

// clientAddrs are the paths of clients into a cluster, the same wherever its servers run. Cluster
// and ProcessCluster embed them. The addresses are written while the cluster starts and never
// change, even while servers are down.
type clientAddrs struct {
	urls  []string
	links links
}

// Size is the number of servers, including those that are down.
func (e *clientAddrs) Size() int { return len(e.urls) }

// URL is where clients reach server i. It stays the same while the server is down.
func (e *clientAddrs) URL(i int) string { return e.urls[i] }

// URLs are where clients reach the cluster, separated by commas as nats.Connect takes them.
func (e *clientAddrs) URLs() string { return strings.Join(e.urls, ",") }

// Connect returns a connection to any of the servers.
func (e *clientAddrs) Connect(opts ...nats.Option) (*nats.Conn, error) {
	return connect(e.URLs(), opts...)
}

// Link returns a path that leads one client to all servers, with faults of its own. Shutdown closes
// it.
func (e *clientAddrs) Link() *Link { return e.links.addTCP() }
