package stores

import (
	"strings"
	"sync"
	"sync/atomic"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// natsServer counts the writes to buckets since it was first asked for the traffic: to be sent each
// of them costs it as much as a client does, and tasks are in such a bucket too.
type natsServer struct {
	s             *natsrun.Server
	counter       sync.Mutex // held while it begins to count
	counts        bool
	writes, roles atomic.Uint64
	bytes         atomic.Uint64 // of the writes, as the server counts them
}

// rolePrefix begins the last part of the keys of roles, whatever the bucket: so they are named
// here.
const rolePrefix = "role-"

// serveNATS runs a server. A stream may have any number of consumers: by default it has 1,000, and
// a peer that watches each role with one of its own does not tell that those beyond are refused.
func serveNATS(c config) (server, error) {
	s, err := natsrun.Start(natsrun.Options{
		StoreDir: c.Dir, Listen: true, SyncAlways: c.Synced,
		Configure: func(o *natsserver.Options) {
			o.JetStreamLimits.DefaultMaxConsumers = -1
			if c.Member != nil {
				c.Member.join(o)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return &natsServer{s: s}, nil
}

func (n *natsServer) addr() string { return strings.TrimPrefix(n.s.URL(), "nats://") }

// count begins to count. A write to a key-value bucket is an ordinary message too, whether the
// stream takes it or not.
func (n *natsServer) count() error {
	n.counter.Lock()
	defer n.counter.Unlock()
	if n.counts {
		return nil
	}
	nc, err := n.s.Connect(nats.ReconnectBufSize(-1))
	if err != nil {
		return err
	}
	if _, err := nc.Subscribe("$KV.>", func(m *nats.Msg) {
		n.writes.Add(1)
		n.bytes.Add(uint64(m.Size() - len(m.Subject) - len(m.Reply)))
		if strings.HasPrefix(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], rolePrefix) {
			n.roles.Add(1)
		}
	}); err != nil {
		return err
	}
	n.counts = true
	return nc.Flush()
}

func (n *natsServer) traffic() (Traffic, error) {
	if err := n.count(); err != nil {
		return Traffic{}, err
	}
	// The comparison's own messages go to the counter of writes; nothing else here asks the server
	// for messages.
	t := Traffic{Writes: n.writes.Load(), Roles: n.roles.Load()}
	bytes := n.bytes.Load()
	v, err := n.s.Running().Varz(nil)
	if err != nil {
		return Traffic{}, err
	}
	t.In, t.Out, t.BytesIn, t.BytesOut = uint64(v.InMsgs), uint64(v.OutMsgs)-t.Writes, uint64(v.InBytes),
		uint64(v.OutBytes)-bytes
	return t, nil
}
