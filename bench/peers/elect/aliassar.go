package elect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ali-assar/NATS-Leader-Election/leader"
	"github.com/nats-io/nats.go"
)

var aliAssarPeer = Peer{
	Name: "ali-assar", Module: "github.com/ali-assar/NATS-Leader-Election", Store: "nats", Settled: aSecond, Short: true,
	Settings: func(ttl time.Duration) string {
		return fmt.Sprintf("TTL %v, also of the bucket's keys; a heartbeat every %v", ttl, ttl/aliAssarBeats)
	},
	Prepare: func(_ context.Context, addr string, ttl time.Duration) error { return makeBucket(addr, "leaders", ttl) },
	Open: func(_ context.Context, c Config, w Work) (Candidate, error) {
		nc, err := dial(c)
		return &aliAssar{c: c, nc: nc, w: w, all: map[string]leader.Election{}}, err
	},
}

// aliAssarBeats is how many heartbeats there are in a TTL.
const aliAssarBeats = 5

// makeBucket makes a bucket whose keys live for the TTL, as the peers that use such a one ask for,
// in files.
func makeBucket(addr, bucket string, ttl time.Duration) error {
	nc, err := nats.Connect("nats://" + addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := nc.JetStream()
	if err != nil {
		return err
	}
	_, err = js.CreateKeyValue(&nats.KeyValueConfig{Bucket: bucket, TTL: ttl, Storage: nats.FileStorage})
	return err
}

type aliAssar struct {
	c  Config
	nc *nats.Conn
	w  Work

	mu  sync.RWMutex
	all map[string]leader.Election
}

func (a *aliAssar) Stand(ctx context.Context, role string) error {
	e, err := leader.NewElectionWithConn(a.nc, leader.ElectionConfig{
		Bucket: "leaders", Group: role, InstanceID: a.c.Instance, TTL: a.c.TTL, HeartbeatInterval: a.c.TTL / aliAssarBeats,
	})
	if err != nil {
		return err
	}
	e.OnPromote(func(context.Context, string) { a.w.begin(role) })
	e.OnDemote(func() { a.w.end(role) })
	a.mu.Lock()
	a.all[role] = e
	a.mu.Unlock()
	return e.Start(context.WithoutCancel(ctx)) // it takes part until it is stopped
}

func (a *aliAssar) of(role string) leader.Election {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.all[role]
}

func (a *aliAssar) Resign(ctx context.Context, role string) error {
	return a.of(role).StopWithContext(ctx, leader.StopOptions{DeleteKey: true, WaitForDemote: true})
}

func (a *aliAssar) Leads(role string) bool {
	e := a.of(role)
	return e != nil && e.IsLeader()
}
