package stores

import (
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

type natsServer struct {
	s             *natsrun.Server
	writes, roles atomic.Uint64
}

// rolePrefix begins the last part of the keys of roles, whatever the bucket: so they are named here.
const rolePrefix = "role-"

// serveNATS runs a server. Synced makes each write to a file durable before it is acknowledged.
func serveNATS(c config) (server, error) {
	s, err := natsrun.Start(natsrun.Options{StoreDir: c.Dir, Listen: true, SyncAlways: c.Synced})
	if err != nil {
		return nil, err
	}
	n := &natsServer{s: s}
	nc, err := s.Connect(nats.ReconnectBufSize(-1))
	if err != nil {
		return nil, err
	}
	// A write to a key-value bucket is an ordinary message too, whether the stream takes it or not.
	if _, err := nc.Subscribe("$KV.>", func(m *nats.Msg) {
		n.writes.Add(1)
		if strings.HasPrefix(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], rolePrefix) {
			n.roles.Add(1)
		}
	}); err != nil {
		return nil, err
	}
	return n, nc.Flush()
}

func (n *natsServer) addr() string { return strings.TrimPrefix(n.s.URL(), "nats://") }

func (n *natsServer) traffic() (Traffic, error) {
	v, err := n.s.Running().Varz(nil)
	if err != nil {
		return Traffic{}, err
	}
	w := n.writes.Load()
	return Traffic{ // what went to the counter of writes is the comparison's own
		In: uint64(v.InMsgs), Out: uint64(v.OutMsgs) - w, BytesIn: uint64(v.InBytes), BytesOut: uint64(v.OutBytes), Writes: w,
		Roles: n.roles.Load(),
	}, nil
}
