package natsrun

import (
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// serverState is how far a server has come into its cluster, as it sees it itself.
type serverState int64

const (
	unrouted  serverState = iota // it lacks a route to at least one other server
	behind                       // it follows no leader of JetStream's meta group, or has not caught up with it
	leadsSome                    // it leads that group, and does not know all servers of it yet
	follows
	leads
)

func (s serverState) String() string {
	return [...]string{"routes are missing", "not current", "leads some", "follows", "leads"}[s]
}

// stateOf is the state of a server in a cluster of that size.
func stateOf(srv *server.Server, size int) serverState {
	switch {
	case srv.NumRoutes() != size-1:
		return unrouted
	case !srv.JetStreamIsCurrent():
		return behind
	case !srv.JetStreamIsLeader():
		return follows
	case len(srv.JetStreamClusterPeers()) < size:
		return leadsSome
	}
	return leads
}

// quorum is the states of all servers of a cluster.
type quorum struct {
	leaders, followers int
	seen               []string
}

func (m *quorum) add(name string, s serverState) {
	switch s {
	case leads:
		m.leaders++
	case follows:
		m.followers++
	}
	m.seen = append(m.seen, name+": "+s.String())
}

// whole reports whether one of them leads and all others follow. Streams can then be made.
func (m *quorum) whole() (ok bool, seen string) {
	return m.leaders == 1 && m.leaders+m.followers == len(m.seen), strings.Join(m.seen, "; ")
}
