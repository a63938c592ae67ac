package natsrun

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// poll is the pace at which a cluster's state is checked, because the cluster has no events for it.
const poll = 20 * time.Millisecond

// WaitReady waits until the servers that are up have routes to one another, one of them leads
// JetStream's meta group, and all of them follow it. Streams can then be made. It is meant for a
// cluster without a partition.
//
// Error: ctx's, with the last observation.
func (c *Cluster) WaitReady(ctx context.Context) error {
	return await(ctx, "cluster", func() (bool, string) {
		var m quorum
		up := c.up()
		for _, srv := range up {
			m.add(srv.Name(), stateOf(srv, len(up)))
		}
		return m.whole()
	})
}

// WaitStream waits until the stream of the global account has a leader among the servers that are
// up, and each server that is up and keeps a replica is current.
//
// Error: ctx's, with the last observation.
func (c *Cluster) WaitStream(ctx context.Context, stream string) error {
	return await(ctx, "stream "+stream, func() (bool, string) {
		var seen []string
		led, ok := false, true
		for _, srv := range c.up() {
			if !srv.JetStreamIsStreamAssigned(server.DEFAULT_GLOBAL_ACCOUNT, stream) {
				continue
			}
			leader := srv.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream)
			current := srv.JetStreamIsStreamCurrent(server.DEFAULT_GLOBAL_ACCOUNT, stream)
			led, ok = led || leader, ok && current
			seen = append(seen, fmt.Sprintf("%s: leader %t, current %t", srv.Name(), leader, current))
		}
		return led && ok, strings.Join(seen, "; ")
	})
}

// LeaderOf is the server that believes that it leads the stream of the global account; ok is false
// when none does. Behind a partition a leader may believe so for 10 s after it was replaced. The
// first believer is then returned.
func (c *Cluster) LeaderOf(stream string) (i int, ok bool) {
	for i, s := range c.nodes {
		if srv := s.Running(); srv != nil && srv.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream) {
			return i, true
		}
	}
	return 0, false
}

// MoveLeader makes the leader of the stream step down through JetStream's API, and waits until
// another server leads.
func (c *Cluster) MoveLeader(ctx context.Context, stream string) (from, to int, err error) {
	from, ok := c.LeaderOf(stream)
	if !ok {
		return 0, 0, fmt.Errorf("natsrun: move leader of %s: it has none", stream)
	}
	nc, err := c.nodes[from].Connect()
	if err != nil {
		return 0, 0, err
	}
	defer nc.Close()
	if err := stepDown(ctx, nc, stream, nil); err != nil {
		return 0, 0, err
	}
	err = await(ctx, "another leader of "+stream, func() (bool, string) {
		var led bool
		to, led = c.LeaderOf(stream)
		return led && to != from, fmt.Sprintf("leader n%d: %t", to, led)
	})
	return from, to, err
}

// stepDown asks the leader of a stream to hand over, as where describes.
func stepDown(ctx context.Context, nc *nats.Conn, stream string, where *server.Placement) error {
	body, err := json.Marshal(server.JSApiLeaderStepdownRequest{Placement: where})
	if err != nil {
		return err
	}
	reply, err := nc.RequestWithContext(ctx, fmt.Sprintf(server.JSApiStreamLeaderStepDownT, stream), body)
	if err != nil {
		return fmt.Errorf("natsrun: step down leader of %s: %w", stream, err)
	}
	var answer server.JSApiStreamLeaderStepDownResponse
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return fmt.Errorf("natsrun: step down leader of %s: read answer: %w", stream, err)
	}
	if answer.Error != nil {
		return fmt.Errorf("natsrun: step down leader of %s: %w", stream, answer.Error)
	}
	return nil
}

// up are the servers that run.
func (c *Cluster) up() []*server.Server {
	var up []*server.Server
	for _, s := range c.nodes {
		if srv := s.Running(); srv != nil {
			up = append(up, srv)
		}
	}
	return up
}

// await checks cond until it holds or ctx ends.
func await(ctx context.Context, what string, cond func() (ok bool, seen string)) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		ok, seen := cond()
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("natsrun: wait for %s: %w; seen last: %s", what, context.Cause(ctx), seen)
		}
	}
}
